import pytest

from bench.engines.master import Master, parse_master


@pytest.mark.parametrize(
    ("text", "kind", "cores"),
    [
        ("local", "local", 1),
        ("local[4]", "local", 4),
        ("local[*]", "local", None),
        ("local[2,3]", "local", 2),  # of which a task may fail three times
        ("local-cluster[2,1,1024]", "local-cluster", 2),
        ("local-cluster[ 2, 3, 512 ]", "local-cluster", 6),
        ("spark://host:7077", "cluster", None),
        ("spark://one:7077,two:7077", "cluster", None),
        ("spark://[::1]:7077", "cluster", None),
        ("yarn", "cluster", None),
        ("k8s://https://host:443", "cluster", None),
    ],
)
def test_what_a_master_says(text, kind, cores):
    assert parse_master(text) == Master(text, kind, cores)
    assert parse_master(text).cores_on(16) == (16 if text == "local[*]" else cores)


@pytest.mark.parametrize(
    "text",
    ["", "lokal[2]", "local[0]", "local[x]", "local-cluster[2,1]", "host:7077", "Yarn", "spark://host"],
)
def test_text_that_spark_would_refuse_is_no_master(text):
    with pytest.raises(ValueError, match="spark://host:7077"):
        parse_master(text)
