"""Hudi: which file slices its table services take, and the planners that call them."""
