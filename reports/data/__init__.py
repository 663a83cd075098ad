"""Runs as reports need them: groups of comparable runs, tidy frames of their records, and exports of both."""
