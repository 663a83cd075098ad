"""What `compactbench compare` answers, apart from how it is printed."""
