"""One run, from engine start to content check, and the other jobs of a worker process.

A simulated run is executed in the parent process.
"""
