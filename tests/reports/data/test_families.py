import pytest

from reports.data.families import cell_of, families


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


def test_a_family_has_at_least_three_members():
    labels = ["never", "a x=1", "b x=1", "a x=2", "b x=2", "a x=3"]
    assert {name: [c.label for c in own] for name, own in families(labels).items()} == {
        "a": ["a x=1", "a x=2", "a x=3"]
    }
