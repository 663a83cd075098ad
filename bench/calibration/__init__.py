"""Fitting the coefficients of the cost model to measured runs."""
