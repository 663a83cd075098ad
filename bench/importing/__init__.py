"""Scenarios made from the histories of existing tables."""
