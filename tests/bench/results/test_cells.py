import pytest

from bench.results.cells import cell_label, cell_of


@pytest.mark.parametrize(
    ("label", "family", "settings"),
    [
        ("rewrite every=1h", "rewrite", (("every", "1h"),)),
        ("my policy every=1h min-input-files=5", "my policy", (("every", "1h"), ("min-input-files", "5"))),
    ],
)
def test_the_label_of_a_cell_names_its_family_and_settings(label, family, settings):
    cell = cell_of(label)
    assert (cell.family, cell.settings) == (family, settings)
    assert cell.curve == settings[1:]


@pytest.mark.parametrize("label", ["never", "every-10min", "a=b", "rewrite every= 1h", "amoro @ cache-on"])
def test_other_labels_are_no_cells(label):
    assert cell_of(label) is None


def test_each_variant_has_families_of_its_own():
    assert cell_of("rewrite every=1h @ cache-on").family == "rewrite @ cache-on"


def test_a_label_that_was_made_is_read_again():
    label = cell_label("my policy", [("every", "1h"), ("where", "day = 1")])
    assert cell_of(label).settings == (("every", "1h"), ("where", "day_1"))
