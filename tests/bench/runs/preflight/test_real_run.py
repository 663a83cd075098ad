import pytest
from refused import refused
from scenario_builder import load

from bench.runs.preflight.real_run import check_real_run


@pytest.mark.parametrize(
    ("master", "share", "key"),
    [
        ("local[2]", {"cores": 8}, "cores"),
        ("local[2]", {"memory": "8GiB"}, "memory"),
        ("local-cluster[2,1,1024]", {"cores": 8}, "cores"),
        ("spark://there:7077", {"cores": 8}, "cores"),
        ("spark://there:7077", {"memory": "4GiB"}, "memory"),
    ],
)
def test_resources_that_differ_from_those_of_spark_are_refused(tmp_path, master, share, key):
    scenario = load(tmp_path, resources={"compactor": share}, spark={"master": master})
    with refused("resources-not-honoured", f"resources.compactor.{key}"):
        check_real_run(scenario)


@pytest.mark.parametrize(
    ("resources", "master"),
    [({}, "local[2]"), ({"compactor": {"cores": 2, "memory": "4GiB"}}, "local[2]"),
     ({"compactor": {"cores": 1}}, "local"), ({"compactor": {"cores": 2}}, "local-cluster[2,1,1024]"),
     ({}, "spark://there:7077")],
)  # fmt: skip
def test_resources_that_match_pass(tmp_path, resources, master):
    check_real_run(load(tmp_path, resources=resources, spark={"master": master}))


@pytest.mark.parametrize(
    ("key", "changes"),
    [
        ("jvm", {"jvm": "warm"}),
        ("resources.core_speed", {"resources": {"core_speed": 2}}),
        ("resources.shared_cores", {"resources": {"shared_cores": 2}}),
    ],
)
def test_a_real_run_has_the_machine_that_it_has(tmp_path, key, changes):
    with refused("unsupported", key):
        check_real_run(load(tmp_path, clock="real", **changes))


@pytest.mark.parametrize(
    "elsewhere", [{"spark": {"master": "spark://one:7077"}}, {"catalog": {"properties": {"type": "rest"}}}]
)
def test_a_page_cache_of_other_machines_cannot_be_dropped(tmp_path, elsewhere):
    check_real_run(load(tmp_path, page_cache="cold"))
    check_real_run(load(tmp_path, **elsewhere))
    with refused("page-cache-elsewhere", "page_cache"):
        check_real_run(load(tmp_path, page_cache="cold", **elsewhere))
