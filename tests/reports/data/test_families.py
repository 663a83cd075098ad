from reports.data.families import families


def test_a_family_has_at_least_three_members():
    labels = ["never", "a x=1", "b x=1", "a x=2", "b x=2", "a x=3"]
    assert {name: [c.label for c in own] for name, own in families(labels).items()} == {
        "a": ["a x=1", "a x=2", "a x=3"]
    }
