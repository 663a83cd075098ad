from bench.engines.delta.model.coefficients import delta_coefficients


def test_the_shipped_coefficients_are_not_calibrated():
    shipped = delta_coefficients()
    assert (shipped.format, shipped.calibrated) == ("delta", False)
    assert shipped.origin
    assert shipped.caution
