import pytest
from refused import refused
from scenario_builder import load

from bench.errors import CompactbenchError
from bench.runs.preflight import real_clock
from bench.runs.preflight.real_clock import check_real_clock, check_simulated_clock
from bench.scenario.roles import own_cores, roles_of

AUTO_COMPACTION = {"delta.autoOptimize.autoCompact": "true"}
ONE_CORE_EACH = {"writer": {"cores": 1}, "compactor": {"cores": 1}, "reader": {"cores": 1}}


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """A machine with four cores and much memory."""
    monkeypatch.setattr(real_clock.os, "sched_getaffinity", lambda pid: {0, 1, 2, 3})
    memory = type("Memory", (), {"total": 64 * 2**30})
    monkeypatch.setattr(real_clock.psutil, "virtual_memory", lambda: memory)


def live(tmp_path, **changes):
    return load(tmp_path, clock="real", **changes)


@pytest.mark.parametrize("name", ["iceberg", "hudi"])
def test_a_scenario_on_this_machine_is_allowed(tmp_path, name):
    check_real_clock(live(tmp_path, table={"format": name}))


def test_commits_that_compact_are_refused_beside_a_compactor(tmp_path):
    compacting = {"label": "inline", "properties": {"hoodie.compact.inline": "true"}}
    scenario = live(tmp_path, table={"format": "hudi"}, strategies=[{"label": "never"}, compacting])
    with refused("unsupported") as caught:
        check_real_clock(scenario)
    assert "strategies[1]" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"page_cache": "cold"}, "page_cache"),
        ({"spark": {"master": "spark://host:7077"}}, "clock"),
    ],
)
def test_what_processes_cannot_do_is_refused_with_its_key(tmp_path, changes, key):
    with refused("unsupported") as caught:
        check_real_clock(live(tmp_path, **changes))
    assert f"{key} = " in str(caught.value)


DELTA = {"table": {"format": "delta"}}
OPTIMIZE = {"trigger": {"type": "every", "interval": "2min"}, "planner": {"type": "delta.optimize"}}


def delta(tmp_path, **changes):
    strategies = [{"label": "a", "rules": [{**OPTIMIZE, **changes.pop("rule", {})}]}]
    return live(tmp_path, **{**DELTA, "strategies": strategies, **changes})


def test_roles_on_delta_tables_are_threads_that_share_cores_and_memory(tmp_path, monkeypatch):
    scenario = delta(tmp_path, resources=ONE_CORE_EACH, spark={"driver_memory": "40GiB"})
    check_real_clock(scenario)  # Iceberg's three processes would need 120 GiB
    with refused("too-much-memory"):
        check_real_clock(live(tmp_path, spark={"driver_memory": "40GiB"}))
    with refused("too-many-cores"):
        check_real_clock(delta(tmp_path, resources={"writer": {"cores": 3}}))


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"resources": {"reader": {"memory": "2GiB"}}}, "resources.reader.memory"),
        ({"resources": {"compactor": {"memory": "2GiB"}}}, "resources.compactor.memory"),
        ({"roles": {"pin": True}}, "roles.pin"),
        ({"rule": {"executor": "delta-rs"}}, "executor"),
        ({"table": {"format": "delta", "properties": AUTO_COMPACTION}}, "strategies"),
        ({"spark": {"spark.databricks.delta.autoCompact.enabled": "true"}}, "strategies"),
    ],
)
def test_what_threads_of_one_jvm_cannot_do_is_refused_with_its_key(tmp_path, changes, key):
    with refused("unsupported") as caught:
        check_real_clock(delta(tmp_path, **changes))
    assert key in str(caught.value)


@pytest.mark.parametrize("value", ["true", "TRUE"])
def test_a_catalog_that_caches_tables_would_show_roles_old_ones(tmp_path, value):
    conf = {"spark.sql.catalog.lake.cache-enabled": value}
    own = {"name": "mine", "properties": {"type": "rest", "uri": "http://host", "cache-enabled": value}}
    for changes in ({"spark": conf}, {"catalog": own}):
        with refused("unsupported") as caught:
            check_real_clock(live(tmp_path, **changes))
        assert "cache-enabled" in str(caught.value)
    check_real_clock(live(tmp_path, spark={"spark.sql.catalog.lake.cache-enabled": "false"}))


@pytest.mark.parametrize(
    "properties",
    [
        {"type": "jdbc", "uri": "jdbc:sqlite::memory:"},
        {"catalog-impl": "org.apache.iceberg.inmemory.InMemoryCatalog"},
    ],
)
def test_a_catalog_in_the_memory_of_one_role_is_none_for_the_others(tmp_path, properties):
    with refused("unsupported") as caught:
        check_real_clock(live(tmp_path, catalog={"name": "mine", "properties": properties}))
    assert "memory of one process" in str(caught.value)


@pytest.mark.parametrize("manner", [{"delay": "1min"}, {"inline": True}])
def test_manners_that_emulate_the_real_clock_are_redundant(tmp_path, manner):
    trigger = {"type": "every", "interval": "2min"}
    rule = {"trigger": trigger, "planner": {"type": "amoro"}, **manner}
    with refused("redundant"):
        check_real_clock(live(tmp_path, strategies=[{"label": "a", "rules": [rule]}]))


def test_a_delay_of_all_compactions_is_redundant_too(tmp_path):
    strategies = [{"label": "never"}]
    check_real_clock(live(tmp_path, strategies=strategies, compaction_delay="0s"))
    with refused("redundant", "compaction_delay"):
        check_real_clock(live(tmp_path, strategies=strategies, compaction_delay="30s"))


def test_more_cores_than_there_are_need_a_word(tmp_path):
    wanted = {"writer": {"cores": 3}, "compactor": {"cores": 1}, "reader": {"cores": 1}}
    with refused("too-many-cores") as caught:
        check_real_clock(live(tmp_path, resources=wanted))
    assert "want 5 cores, and this machine has 4" in str(caught.value)
    check_real_clock(live(tmp_path, resources=wanted, roles={"oversubscribe": True}))


def test_roles_that_are_bound_have_cores_of_their_own(tmp_path):
    wanted = {"writer": {"cores": 2}, "compactor": {"cores": 1}, "reader": {"cores": 1}}
    scenario = live(tmp_path, resources=wanted, roles={"pin": True})
    check_real_clock(scenario)
    assert [[*own_cores(scenario, role)] for role in roles_of(scenario)] == [[0, 1], [2], [3]]
    too_many = {"writer": {"cores": 3}, "compactor": {"cores": 1}, "reader": {"cores": 1}}
    with refused("too-many-cores"):
        check_real_clock(live(tmp_path, resources=too_many, roles={"pin": True, "oversubscribe": True}))
    with refused("unsupported"):
        check_simulated_clock(scenario)


def test_each_of_several_compactors_has_cores_and_memory(tmp_path):
    several = live(tmp_path, roles={"compactor": {"count": 2}})
    assert roles_of(several) == ("writer", "compactor-1", "compactor-2", "reader")
    check_real_clock(several)
    with refused("too-many-cores") as caught:
        check_real_clock(live(tmp_path, roles={"compactor": {"count": 3}}))
    assert "want 5 cores, and this machine has 4: lower resources.*.cores, roles.compactor.count" in str(
        caught.value
    )
    many = {"compactor": {"count": 40}, "oversubscribe": True}
    with refused("too-much-memory"):
        check_real_clock(live(tmp_path, roles=many))
    pinned = live(tmp_path, roles={"compactor": {"count": 2}, "pin": True})
    assert [[*own_cores(pinned, role)] for role in roles_of(pinned)] == [[0], [1], [2], [3]]


def test_one_compactor_has_no_number(tmp_path):
    assert roles_of(live(tmp_path, roles={"compactor": {"count": 1}})) == ("writer", "compactor", "reader")


@pytest.mark.parametrize("count", [0, -1, 65, 1.5, "2"])
def test_a_count_that_is_none_is_refused(tmp_path, count):
    with pytest.raises(CompactbenchError, match=r"roles\.compactor\.count"):
        live(tmp_path, roles={"compactor": {"count": count}})


def test_a_hudi_table_has_one_compactor(tmp_path):
    with refused("unsupported") as caught:
        check_real_clock(live(tmp_path, table={"format": "hudi"}, roles={"compactor": {"count": 2}}))
    assert "roles.compactor.count = 2" in str(caught.value)


def test_a_simulation_has_one_compactor(tmp_path):
    with refused("unsupported"):
        check_simulated_clock(live(tmp_path, roles={"compactor": {"count": 2}}))
    check_simulated_clock(live(tmp_path, roles={"compactor": {"count": 1}}))


def test_a_simulation_binds_no_role_to_cores(tmp_path):
    with refused("unsupported", "roles.pin"):
        check_simulated_clock(live(tmp_path, roles={"pin": True}))


def test_more_memory_than_there_is_is_refused(tmp_path):
    with refused("too-much-memory"):
        check_real_clock(live(tmp_path, resources={"reader": {"memory": "128GiB"}}))


def test_roles_take_more_memory_than_their_heaps(tmp_path):
    heaps = {"writer": {"memory": "20GiB"}, "compactor": {"memory": "20GiB"}}
    check_real_clock(live(tmp_path, resources={**heaps, "reader": {"memory": "21GiB"}}))
    with refused("too-much-memory") as caught:
        check_real_clock(live(tmp_path, resources={**heaps, "reader": {"memory": "22GiB"}}))
    assert "take 62 GiB when they are full and their processes 2.11 GiB more" in str(caught.value)


@pytest.mark.parametrize("rate", ["0/s", "-1/s", "2", "2/fortnight", "1e9/s", 2])
def test_a_rate_that_is_none_is_refused(tmp_path, rate):
    with pytest.raises(CompactbenchError):
        live(tmp_path, roles={"reader": {"rate": rate}})


@pytest.mark.parametrize(("rate", "per_s"), [("2/s", 2.0), ("30/min", 0.5), ("36/h", 0.01)])
def test_a_rate_is_of_queries_a_second(tmp_path, rate, per_s):
    assert live(tmp_path, roles={"reader": {"rate": rate}}).probe_rate_per_s(1) == pytest.approx(per_s)


def test_without_a_rate_readers_ask_as_often_as_probes_run(tmp_path):
    assert live(tmp_path, probe_every="2min").probe_rate_per_s(1) == pytest.approx(1 / 120)


@pytest.mark.parametrize(
    "changes",
    [
        {"speed": 2.0},
        {"drain": "1min"},
        {"roles": {"oversubscribe": True}},
        {"roles": {"compactor": {"count": 2}}},
    ],
)
def test_what_only_the_real_clock_has_is_refused_without_it(tmp_path, changes):
    with refused("no-effect"):
        load(tmp_path, **changes)


@pytest.mark.parametrize("speed", [0, -1, 2000])
def test_a_speed_is_above_0(tmp_path, speed):
    with pytest.raises(CompactbenchError):
        live(tmp_path, speed=speed)
