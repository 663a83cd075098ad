"""The parent process: which runs there are to make, their folders, and starting their workers."""
