"""Delta Lake: which files its commands rewrite, and the planners that call them."""
