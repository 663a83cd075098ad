"""Scenario files read, checked and turned into scenarios."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

from bench.engines.keys import TableKeys
from bench.errors import ScenarioError
from bench.scenario import file as scenario_file
from bench.scenario.checks import check_keys
from bench.scenario.environment import fill_in
from bench.scenario.resolve import (
    cadences_ms,
    completed,
    partitioning_of,
    probes_of,
    resolved_text,
    scenario_hash,
)
from bench.scenario.scenario import Scenario, Table
from bench.scenario.schema import ScenarioKeys, VariantKeys, parse
from bench.scenario.specs import build_strategies
from bench.scenario.table_checks import check_tables
from bench.scenario.values import KeyPath, OptionError
from bench.scenario.variants import Variant, changed, check_variants, check_versions, spec_in
from bench.secrets import Secrets


def load_scenario(name_or_path: str, overrides: Sequence[str] = ()) -> Scenario:
    """The scenario of a .toml file or of a shipped name, with each `key=value` of `overrides` applied.

    Raises ScenarioError naming the file, the key, its value and the remedy.
    """
    file = scenario_file.find(name_or_path)
    document = scenario_file.read(file)
    secrets = Secrets.of_arguments(overrides)
    overridden: dict[KeyPath, str] = {}
    for setting in overrides:
        try:
            overridden[scenario_file.override(document, setting)] = setting
        except ScenarioError as error:
            raise error.within(file, secrets.scrub) from None
    try:
        filled = deepcopy(document)  # variants start from the file: a secret may look like a variable itself
        secrets |= Secrets.of_values(fill_in(filled)) | Secrets.of(filled)
        keys = parse(filled, file.parent)
        base = _scenario(file, keys, secrets)
        check_variants(keys.variants, [spec.label for spec in base.strategies])
    except OptionError as error:
        blamed = [f" with --set {text}" for path, text in overridden.items() if _touch(path, error.keys)]
        raise error.within(f"{file}{''.join(blamed)}", secrets.scrub) from error
    variants = tuple(
        _in_variant(file, document, base, index, variant) for index, variant in enumerate(keys.variants)
    )
    secrets = reduce(or_, (variant.secrets for variant in variants), base.secrets)
    return replace(base, variants=variants, secrets=secrets)


def _in_variant(
    file: Path, document: Mapping[str, Any], base: Scenario, index: int, keys: VariantKeys
) -> Scenario:
    """The scenario in one of its variants. Raises ScenarioError, which names the variant."""
    path: KeyPath = ("variants", index)
    try:
        changed_document, variant = changed(document, keys, path)
        secrets = base.secrets | Secrets.of_values(fill_in(changed_document))
        scenario = _scenario(file, parse(changed_document, file.parent), secrets, variant)
        check_versions(variant, scenario.table.format, path)
        _check_same_stream(base, scenario, path)
        _check_same_cpu(base, scenario, path)
    except OptionError as error:
        of_variant = "" if error.keys[:1] == path[:1] else f" in variant {keys.label!r}"
        raise error.within(f"{file}{of_variant}", base.secrets.scrub) from error
    return replace(scenario, hash=base.hash)


def _check_same_stream(base: Scenario, scenario: Scenario, path: KeyPath) -> None:
    """Refuse keys that determine the size of the initial load: the variant would replay other files."""
    if repr(scenario.workload) != repr(base.workload):
        raise OptionError(
            (*path, "set"),
            "changes the files of the initial load, which are sized for the table, and all variants share "
            "one stream: set workload.initial_files in the scenario, or make it a scenario of its own",
        )


def _check_same_cpu(base: Scenario, scenario: Scenario, path: KeyPath) -> None:
    """Refuse a variant that counts CPU differently from the scenario: costs would not compare."""
    if (base.spark.executor_cpu == "tasks") != (scenario.spark.executor_cpu == "tasks"):
        raise OptionError(
            (*path, "set"),
            'counts CPU differently from the scenario: set spark.executor_cpu = "tasks" in all variants or '
            "in none",
        )


def _touch(path: KeyPath, other: KeyPath) -> bool:
    shorter = min(len(path), len(other))
    return path[:shorter] == other[:shorter]


def _scenario(file: Path, keys: ScenarioKeys, secrets: Secrets, variant: Variant | None = None) -> Scenario:
    check_keys(keys, secrets)
    keys = completed(keys)
    probe_every_ms, side_probe_every_ms = cadences_ms(keys)
    probes = probes_of(keys)
    specs = build_strategies(keys)
    if variant is not None:
        specs = tuple(spec_in(spec, variant.label) for spec in specs)
    maintenance = tuple(rule.rule for rule in keys.maintenance)
    resolved = resolved_text(keys, probes, specs, maintenance)
    scenario = Scenario(
        name=file.stem, description=keys.description, seed=keys.seed,
        duration_ms=keys.duration_ms,
        commit_interval_ms=keys.commit_interval_ms,
        commits_count=keys.duration_ms // keys.commit_interval_ms,
        repetitions=keys.repetitions,
        probe_every_ms=probe_every_ms, side_probe_every_ms=side_probe_every_ms,
        probe_phase=keys.probe_phase,
        compaction_delay_ms=keys.compaction_delay_ms,
        warm_up_rounds=keys.warm_up_rounds,
        table=_table(keys.table),
        workload=keys.workload, workload_name=keys.workload_name,
        probes=probes, strategies=specs, maintenance=maintenance,
        resources=keys.resources, prices=keys.prices, spark=keys.spark, catalog=keys.catalog,
        resolved=resolved, hash=scenario_hash(resolved, keys.workload), secrets=secrets,
        variant=variant,
    )  # fmt: skip
    check_tables(scenario)
    return scenario


def _table(keys: TableKeys) -> Table:
    return Table(keys.format, keys, keys.target_file_size_bytes, partitioning_of(keys), keys.properties)
