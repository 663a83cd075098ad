"""The parent process: plans the runs, makes their folders and starts their workers."""
