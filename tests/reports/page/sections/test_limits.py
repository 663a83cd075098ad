from dataclasses import replace

import pytest

from reports.data.group import RunGroup
from reports.page.sections.limits import limits
from reports.page.sections.set_up import set_up

ONE_MACHINE = "Everything ran on one machine: no network, no object store, no scheduler, no other tenants."


def elsewhere(group, notes, **changes):
    """The runs of a group with other notes; None takes one away."""

    def noted(run):
        known = {key: value for key, value in {**run.manifest.notes, **notes}.items() if value is not None}
        return replace(run, manifest=run.manifest.model_copy(update={"notes": known, **changes}))

    return RunGroup(group.rows, tuple(map(noted, group.runs)))


def said(group):
    return " ".join(map(str, limits(group)))


def test_runs_of_one_machine_say_so(group):
    assert str(limits(group)[0]) == ONE_MACHINE


@pytest.mark.parametrize(
    ("notes", "told"),
    [
        ({"machines": "a cluster's"}, "Tasks ran on the machines of a cluster."),
        ({"storage": "of the catalog"}, "The tables were stored by the scenario's catalog."),
    ],
)
def test_runs_elsewhere_say_where(group, notes, told):
    found = said(elsewhere(group, notes | {"fsync": None, "page_cache": None}))
    assert told in found
    assert ONE_MACHINE not in found
    assert "warm page cache" not in found


def test_the_catalog_is_part_of_the_set_up(group):
    def facts(group):
        return {title.text: str(value.text) for title, value in set_up(group).rows}

    assert "Catalog" not in facts(group)
    properties = {"type": "jdbc", "warehouse": "s3://bucket/warehouse", "s3.region": "x"}
    found = elsewhere(
        group, {"storage": "of the catalog"}, options={"catalog": "mine"},
        scenario_text={"catalog": {"name": "mine", "properties": properties}},
    )  # fmt: skip
    assert facts(found)["Catalog"] == "mine, type jdbc, warehouse s3://bucket/warehouse"
    by_conf = elsewhere(group, {"storage": "of the catalog"}, options={"catalog": "lake"}, scenario_text={})
    assert facts(by_conf)["Catalog"] == "lake"
