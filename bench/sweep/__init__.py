"""Sweeps: the axes, cells and scenarios of a grid of settings."""
