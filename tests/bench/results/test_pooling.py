from dataclasses import replace

import pytest
from records import run
from refused import refused

from bench.results.pooling import (
    CHECKED,
    Strictness,
    check_old_and_new,
    check_one_format,
    check_pooled,
    differences,
)

ON_REQUEST = Strictness.ON_REQUEST
MACHINE = {"cpu": "Example CPU", "cores": 2, "ram_bytes": 8 * 2**30, "system": "Linux"}
ALWAYS_REFUSED = [
    ({"mode": "simulated"}, "mode"),
    ({"format": "delta"}, "format"),
    ({"workload": "upsert"}, "workload"),
    ({"scenario": "other"}, "scenario"),
    ({"scenario_hash": "other"}, "scenario_hash"),
    ({"change_log_hash": "other"}, "change_log_hash"),
    ({"seed": 43}, "seed"),
    ({"notes": {"cpu": "driver and tasks"}}, "counts_tasks_only"),
    ({"notes": {"table_metadata": "read by new sessions"}}, "notes.table_metadata"),
]
OVERSUBSCRIBED = ({"notes": {"cores": "fewer than the roles have"}}, "notes.cores")
ENVIRONMENT = [
    ({"machine": {**MACHINE, "cpu": "Another CPU"}}, "machine.cpu"),
    ({"machine": {**MACHINE, "cores": 4}}, "machine.cores"),
    ({"machine": {**MACHINE, "ram_bytes": 4 * 2**30}}, "machine.ram_bytes"),
    ({"memory_bytes": 10**9}, "memory_bytes"),
]
UNDER_TEST = [
    ({"versions": {"python": "3.12"}}, "versions.python"),
    ({"git": {"commit": "fedcba", "dirty": False}}, "git.commit"),
    ({"git": {"commit": "0123456789abcdef", "dirty": True}}, "git.dirty"),
    ({"git": {}}, "git.commit"),
    ({"options": {"spark": {"spark.master": "local[4]"}}}, "options.spark.spark.master"),
]
RULES = [
    ({"strategy_hash": "other"}, "strategy_hash"),
    ({"variant": {"label": "v", "set": {"table.format_version": 3}}}, "variant.label"),
]


def fields(differing):
    return [difference.field for difference in differing]


def newer(**changes):
    made = run(repetition=2, suite_id="later")
    return replace(made, manifest=made.manifest.model_copy(update=changes))


def test_runs_alike_do_not_differ():
    assert differences([run(), run(repetition=2)]) == ()
    assert check_pooled([]) == ()


@pytest.mark.parametrize("strictest", Strictness)
@pytest.mark.parametrize(("changes", "field"), [*ALWAYS_REFUSED, *RULES, OVERSUBSCRIBED])
def test_what_makes_figures_incomparable_is_never_pooled(changes, field, strictest):
    if strictest is Strictness.NEVER:
        assert field in fields(check_pooled([run(), newer(**changes)], strictest))
        return
    with refused("mixed-runs", field) as refusal:
        check_pooled([run(), newer(**changes)], strictest)
    assert "--allow-mixed" not in str(refusal.value)


@pytest.mark.parametrize(("changes", "field"), ENVIRONMENT + UNDER_TEST)
def test_what_may_shift_figures_is_pooled_only_on_request(changes, field):
    with refused("mixed-runs", field):
        check_pooled([run(), newer(**changes)])
    assert field in fields(check_pooled([run(), newer(**changes)], ON_REQUEST))


@pytest.mark.parametrize("strictest", [Strictness.REPORTED, ON_REQUEST])
@pytest.mark.parametrize(("changes", "field"), ALWAYS_REFUSED)
def test_new_results_of_another_stream_are_never_compared_with_old_ones(changes, field, strictest):
    with refused("mixed-runs", field):
        check_old_and_new([run()], [newer(**changes)], strictest)


@pytest.mark.parametrize(("changes", "field"), [*ENVIRONMENT, OVERSUBSCRIBED])
def test_new_results_of_another_machine_are_compared_only_on_request(changes, field):
    with refused("mixed-runs", field):
        check_old_and_new([run()], [newer(**changes)])
    assert fields(check_old_and_new([run()], [newer(**changes)], ON_REQUEST)) == [field]


@pytest.mark.parametrize(("changes", "field"), UNDER_TEST + RULES)
def test_what_may_be_under_test_is_reported(changes, field):
    assert field in fields(check_old_and_new([run()], [newer(**changes)]))


def test_rules_and_options_are_a_strategy_s_own():
    other = {"strategy_hash": "other", "options": {"table": {"format-version": "3"}}}
    assert differences([run(strategy="a"), run(strategy="b", **other)]) == ()


@pytest.mark.parametrize(("changes", "field"), [*UNDER_TEST, ({"memory_bytes": 10**9}, "memory_bytes")])
def test_what_a_variant_may_change_is_compared_within_each_variant(changes, field):
    def within(repetition, **more):
        return run(strategy="never @ v", repetition=repetition, variant={"label": "v", "set": {}}, **more)

    assert check_pooled([run(), within(1, **changes), run(repetition=2), within(2, **changes)]) == ()
    with refused("mixed-runs", field):
        check_pooled([run(), within(1), within(2, **changes)])


def test_variants_share_machine_stream_and_scenario():
    within = {"strategy": "never @ v", "variant": {"label": "v", "set": {}}}
    of_all = [(changes, field) for changes, field in ALWAYS_REFUSED if field != "format"]
    for changes, field in [*of_all, *ENVIRONMENT[:3]]:
        with refused("mixed-runs", field):
            check_pooled([run(), run(**within, **changes)])


def test_a_variant_may_have_another_format_and_no_two():
    def within(repetition, **more):
        return run(strategy="never @ v", repetition=repetition, variant={"label": "v", "set": {}}, **more)

    runs = [run(), within(1, format="delta"), run(repetition=2), within(2, format="delta")]
    assert check_pooled(runs) == ()
    check_one_format(runs)
    for refuse in (check_pooled, check_one_format):
        with refused("mixed-runs", "format") as refusal:
            refuse([run(), within(1), within(2, format="delta")])
        assert "--allow-mixed" not in str(refusal.value)


def test_another_format_without_a_variant_is_another_scenario():
    other = run(strategy="often", format="delta", scenario_hash="other")
    for refuse in (check_pooled, check_one_format):
        with refused("mixed-runs", "format"):
            refuse([run(), other])
    with refused("mixed-runs", "format"):
        check_old_and_new([run()], [other])


def test_a_refusal_names_both_runs_and_the_gravest_difference_with_both_values():
    with refused("mixed-runs", "seed") as refusal:
        check_pooled([run(), newer(versions={"spark": "3.5.9"}), newer(seed=43)])
    assert f"42 in {run().folder} and 43 in {newer().folder}" in str(refusal.value)


def test_what_one_side_lacks_is_none():
    (difference,) = differences([run(), newer(versions={**run().manifest.versions, "delta": "3.3.2"})])
    assert str(difference) == "versions.delta (none and '3.3.2')"


def test_a_difference_of_one_strategy_names_it():
    (difference,) = differences([run(), newer(strategy_hash="other")])
    assert str(difference) == "strategy_hash of 'never' ('' and 'other')"


def test_a_run_cannot_stand_on_both_sides():
    with refused("copied-run"):
        check_old_and_new([run(), run(repetition=2)], [run(repetition=2)])


def test_load_and_kernel_are_no_reason_to_refuse():
    busy = {**MACHINE, "load_before_suite": 9.0, "system": "Linux 7"}
    assert check_pooled([run(machine=MACHINE), run(repetition=2, machine=busy)]) == ()


def test_every_checked_field_is_tried_above():
    tried = {field.split(".")[0] for _, field in ALWAYS_REFUSED + ENVIRONMENT + UNDER_TEST + RULES}
    assert tried == {checked.field for checked in CHECKED}


def test_a_refusal_of_other_scenarios_names_the_keys_that_differ():
    texts = [{"seed": 1, "workload": {"files_per_commit": n}, "repetitions": n} for n in (8, 4)]
    old, new = run(scenario_text=texts[0]), newer(scenario_hash="other", scenario_text=texts[1])
    with refused("mixed-runs", "scenario_hash") as refusal:
        check_old_and_new([old], [new])
    assert ": workload.files_per_commit 8 and 4, so" in str(refusal.value)
