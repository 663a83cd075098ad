import pytest

from bench.engines.delta.model.coefficients import delta_coefficients
from bench.errors import ScenarioError


def test_the_shipped_file_says_that_it_is_fitted_to_nothing():
    shipped = delta_coefficients()
    assert (shipped.format, shipped.calibrated) == ("delta", False)
    assert "fitted to nothing" in shipped.origin
    assert "do not compare them with times of another format" in shipped.caution


def test_a_file_that_lacks_a_key_is_refused(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('format = "delta"\n')
    with pytest.raises(ScenarioError, match=r"mine\.toml: calibrated: Field required"):
        delta_coefficients(file)
