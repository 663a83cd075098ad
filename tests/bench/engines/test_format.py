from dataclasses import replace

import pytest
from refused import refused

from bench.engines import registry
from bench.engines.contract import TableSpec
from bench.engines.format import CatalogRules
from bench.engines.iceberg.format import FORMAT
from bench.engines.iceberg.table_keys import IcebergKeys, format_version_of
from bench.engines.registry import engine_kind, existing_tables
from strategies.iceberg.commands import Command
from strategies.plan import Capability
from workloads.schema import ORDERS


def keys(**given):
    return IcebergKeys.model_validate({"format": "iceberg", "target_file_size": "8MiB", **given})


def test_a_format_s_own_keys_are_those_beyond_the_general_ones():
    assert keys(format_version=3).own() == {"format_version": 3}
    assert (keys().version, keys(format_version=3).version) == (2, 3)


def test_a_table_without_keys_has_the_default_version():
    assert format_version_of(TableSpec(1)) == 2
    assert format_version_of(TableSpec(1, keys=keys(format_version=3))) == 3


@pytest.mark.parametrize(
    ("mode", "version", "needs"),
    [
        (None, 3, set()),
        ("equality-delete", 2, {Capability.UPSERT}),
        ("equality-delete", 3, {Capability.UPSERT, Capability.VECTORS}),
        ("merge-on-read", 2, {Capability.MERGE}),
        ("copy-on-write", 3, {Capability.MERGE, Capability.VECTORS}),
    ],
)
def test_what_commits_need_follows_from_the_mode_and_the_version(mode, version, needs):
    assert FORMAT.writer.needs(keys(format_version=version), mode) == needs


def test_capabilities_are_general_ones_and_names_of_commands():
    engines = FORMAT.engines
    real, simulated = engines.real.capabilities, engines.simulated.capabilities
    assert simulated < real == engines.capabilities == {*Capability, *Command}
    assert all(type(name) in (Capability, Command) for name in real)


def test_the_sizes_of_files_are_estimated():
    assert FORMAT.engines.size_model(ORDERS)(10, 1) > 0


def test_each_mode_has_an_engine_of_its_own():
    assert engine_kind("iceberg", "simulated") is FORMAT.engines.simulated
    assert engine_kind("iceberg", "real") is FORMAT.engines.real


def test_existing_tables_are_of_the_format_that_finds_one_in_the_folder(monkeypatch, tmp_path):
    here, there = str(tmp_path), str(tmp_path.parent)
    existing = replace(FORMAT.existing, is_at=lambda name: name == here)
    placed = replace(FORMAT, name="placed", catalog=CatalogRules(), existing=existing)
    monkeypatch.setattr(registry, "FORMATS", {"iceberg": FORMAT, "placed": placed})
    assert existing_tables(None, here)[0] is placed
    assert existing_tables(None, there, f"{placed.name}.some_planner")[0] is placed
    assert existing_tables(None, "db.orders")[0] is existing_tables("iceberg", here)[0] is FORMAT


def test_a_folder_with_tables_of_several_formats_is_refused(monkeypatch, tmp_path):
    here = str(tmp_path)
    existing = replace(FORMAT.existing, is_at=lambda name: True)
    formats = {name: replace(FORMAT, name=name, existing=existing) for name in ("one", "two")}
    monkeypatch.setattr(registry, "FORMATS", formats)
    assert existing_tables("two", here)[0] is formats["two"]
    with refused("ambiguous", here):
        existing_tables(None, here)


def test_a_path_at_which_there_is_nothing_is_refused(tmp_path):
    with refused("not-a-table", str(tmp_path / "nothing")):
        existing_tables(None, str(tmp_path / "nothing"))


def test_an_existing_table_of_an_unknown_format_is_refused():
    with refused("unknown-name", "--table-format"):
        existing_tables("unheard", "db.orders")


def test_the_format_of_an_existing_table_is_asked_for_where_several_have_catalogs(monkeypatch):
    other = replace(FORMAT, name="other")
    monkeypatch.setattr(registry, "FORMATS", {"iceberg": FORMAT, "other": other})
    assert existing_tables("other", "db.orders")[0] is other
    with refused("unknown-name", "--table-format"):
        existing_tables(None, "db.orders")
