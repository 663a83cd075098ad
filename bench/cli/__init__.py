"""The command line: one file per sub-command, data on stdout, everything else on stderr."""
