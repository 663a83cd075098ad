"""Which runs may be pooled or compared: which parts of their manifests must agree, and how strictly.

`rows.rows` refuses what is never pooled, the report cautions about any difference, and `compactbench compare`
refuses the rest as well unless `--allow-mixed` is given.

A strategy in a variant is a strategy of its own, with a label of its own. A variant may change the format of
the tables, never the stream. Load and kernel of the machine are recorded for readers and are no reason to
refuse. `verify` is covered by `timings_invalid`; the resolved scenario and all notes but which sessions query
and whether cores were oversubscribed contain nothing beyond mode, versions and scenario_hash.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from typing import Any, Literal

from bench.errors import ResultSchemaError
from bench.results.folders import RunResult
from bench.results.records import Manifest


class Strictness(IntEnum):
    """What happens to runs that differ."""

    REPORTED = 1  # they are used, and the difference is reported
    ON_REQUEST = 2  # they are refused unless the user asks for it
    NEVER = 3  # they are refused


@dataclass(frozen=True, slots=True)
class Checked:
    """A field of the manifest that is compared, and its name in a report.

    `within` is for one set of results, `between` for an old and a new one. A field `by_strategy` is compared
    within each strategy, and one `by_variant`, which a variant may change, within each variant. Of a mapping
    with `parts` only these are compared.
    """

    field: str
    words: str
    within: Strictness
    between: Strictness
    by_strategy: bool = False
    by_variant: bool = False
    parts: tuple[str, ...] = ()

    def value_in(self, manifest: Manifest) -> Any:
        value = getattr(manifest, self.field)
        return {part: value.get(part) for part in self.parts} if self.parts else value


@dataclass(frozen=True, slots=True)
class Difference:
    """Two runs that differ in `field` (dotted where only a part of it differs)."""

    checked: Checked
    field: str
    runs: tuple[RunResult, RunResult]
    values: tuple[Any, Any]

    def __str__(self) -> str:
        of_strategy = f" of {self.runs[0].manifest.strategy!r}" if self.checked.by_strategy else ""
        first, second = self.values
        return f"{self.field}{of_strategy} ({_text(first)} and {_text(second)})"


_NEVER, _ON_REQUEST, _REPORTED = Strictness.NEVER, Strictness.ON_REQUEST, Strictness.REPORTED
CHECKED = (
    Checked("mode", "mode", _NEVER, _NEVER),
    Checked("format", "format", _NEVER, _NEVER, by_variant=True),
    Checked("workload", "workload", _NEVER, _NEVER),
    Checked("scenario", "scenario", _NEVER, _NEVER),
    Checked("scenario_hash", "scenario", _NEVER, _NEVER),
    Checked("change_log_hash", "change log", _NEVER, _NEVER),
    Checked("seed", "seed", _NEVER, _NEVER),
    Checked("counts_tasks_only", "what counts as CPU", _NEVER, _NEVER),
    Checked("notes", "which sessions query", _NEVER, _NEVER, parts=("table_metadata",)),
    Checked("notes", "whether roles lacked cores", _NEVER, _ON_REQUEST, by_variant=True, parts=("cores",)),
    # Old and new results may differ in what the comparison is to test.
    Checked("strategy_hash", "rules of a strategy", _NEVER, _REPORTED, by_strategy=True),
    Checked("variant", "keys that a variant sets", _NEVER, _REPORTED, by_strategy=True),
    # The effect of another machine cannot be separated from the effect of what is tested.
    Checked("machine", "machine", _ON_REQUEST, _ON_REQUEST, parts=("cpu", "cores", "ram_bytes")),
    Checked("memory_bytes", "memory", _ON_REQUEST, _ON_REQUEST, by_variant=True),
    Checked("versions", "versions", _ON_REQUEST, _REPORTED, by_variant=True),
    Checked(
        "git", "git state of compactbench", _ON_REQUEST, _REPORTED, by_variant=True, parts=("commit", "dirty")
    ),
    Checked("options", "options", _ON_REQUEST, _REPORTED, by_strategy=True),
)


def differences(runs: Iterable[RunResult], checks: Sequence[Checked] = CHECKED) -> tuple[Difference, ...]:
    """Every field in which some of `runs` differ, in the order of `checks`.

    Each occurs once, with the first run and the first run that differs from it.
    """
    ordered = tuple(runs)
    by_strategy = _grouped(ordered, lambda manifest: manifest.strategy)
    by_variant = _grouped(ordered, _variant)
    return tuple(
        difference
        for checked in checks
        for group in (by_strategy if checked.by_strategy else by_variant if checked.by_variant else [ordered])
        for difference in _differences(checked, group)
    )


def _variant(manifest: Manifest) -> str:
    return manifest.variant_label or ""


def _grouped(runs: Iterable[RunResult], key: Callable[[Manifest], str]) -> list[tuple[RunResult, ...]]:
    ordered = sorted(runs, key=lambda run: key(run.manifest))
    return [tuple(group) for _, group in groupby(ordered, key=lambda run: key(run.manifest))]


def check_pooled(
    runs: Iterable[RunResult], strictest: Strictness = Strictness.REPORTED
) -> tuple[Difference, ...]:
    """The tolerated differences within one set of results.

    Raises ResultSchemaError for a difference that is checked more strictly than `strictest`.
    """
    return _tolerated(differences(runs), "within", strictest)


def check_one_format(runs: Iterable[RunResult]) -> None:
    """Raises ResultSchemaError if the runs of one variant are of several formats."""
    of_format = differences(runs, [checked for checked in CHECKED if checked.field == "format"])
    _tolerated(of_format, "within", Strictness.ON_REQUEST)


def check_old_and_new(
    old: Iterable[RunResult], new: Iterable[RunResult], strictest: Strictness = Strictness.REPORTED
) -> tuple[Difference, ...]:
    """The tolerated differences between two sets of results, each of which has passed `check_pooled`.

    Raises ResultSchemaError for a difference that is checked more strictly than `strictest`, and for a run
    that is in both sets.
    """
    old, new = tuple(old), tuple(new)
    known = {_identity(run): run for run in old}
    twice = next((run for run in new if _identity(run) in known), None)
    if twice is not None:
        raise ResultSchemaError(
            f"is the run {known[_identity(twice)].folder} of the old results too; give an older and a newer "
            "set of results",
            code="copied-run",
            path=twice.folder,
        )
    return _tolerated(differences((*old, *new)), "between", strictest)


def _identity(run: RunResult) -> tuple[str, str]:
    return (run.manifest.suite_id, run.manifest.run_id)


def _tolerated(
    differing: tuple[Difference, ...], comparison: Literal["within", "between"], strictest: Strictness
) -> tuple[Difference, ...]:
    def strictness(difference: Difference) -> Strictness:
        return difference.checked.within if comparison == "within" else difference.checked.between

    difference = max(differing, key=strictness, default=None)
    if difference is not None and strictness(difference) > strictest:
        (first, second), folders = difference.values, [run.folder for run in difference.runs]
        raise ResultSchemaError(
            f"{_text(first)} in {folders[0]} and {_text(second)} in {folders[1]}{_definitions(difference)}, "
            f"so these runs cannot be combined; {_remedy(difference, strictness(difference))}",
            code="mixed-runs",
            path=difference.field,
        )
    return differing


_REMEDIES: Mapping[str, str] = {
    "mode": "give either simulated or real runs",
    "counts_tasks_only": 'give runs that count the same CPU: leave out spark.executor_cpu = "tasks"',
}


def _remedy(difference: Difference, strictness: Strictness) -> str:
    if strictness is Strictness.ON_REQUEST:
        return "give results that agree, or use --allow-mixed"
    return _REMEDIES.get(difference.field, "give results of one definition only")


def changed_keys(difference: Difference) -> dict[str, tuple[Any, Any]]:
    """The keys in which two scenarios differ, with both values; empty for a difference of something else."""
    if difference.field != "scenario_hash":
        return {}
    first, second = (_definition(run.manifest) for run in difference.runs)
    both = {key: (first.get(key), second.get(key)) for key in {**first, **second}}
    return {key: (one, other) for key, (one, other) in both.items() if one != other}


def _definitions(difference: Difference) -> str:
    """The first three keys in which two scenarios differ."""
    keys = changed_keys(difference)
    examples = [f"{key} {_text(first)} and {_text(second)}" for key, (first, second) in keys.items()]
    return f": {', '.join(examples[:3])}{' and more' if len(keys) > 3 else ''}" if examples else ""


def _definition(manifest: Manifest) -> dict[str, Any]:
    """The resolved scenario, flat, without the keys that its hash omits."""
    omitted = ("description", "repetitions", "strategies", "variants")
    hashed = {key: value for key, value in manifest.scenario_text.items() if key not in omitted}
    return {key.removeprefix("."): value for key, value in _flat("", hashed).items()}


def _differences(checked: Checked, runs: Sequence[RunResult]) -> list[Difference]:
    flat = [_flat(checked.field, checked.value_in(run.manifest)) for run in runs]
    differing = []
    for field in dict.fromkeys(name for values in flat for name in values):
        first, *others = [values.get(field) for values in flat]
        other = next((index for index, value in enumerate(others, 1) if value != first), None)
        if other is not None:
            differing.append(
                Difference(checked, field, (runs[0], runs[other]), (first, flat[other].get(field)))
            )
    return differing


def _flat(name: str, value: Any) -> dict[str, Any]:
    """{"a.b": 1} of a: {b: 1}; an empty mapping adds nothing."""
    if not isinstance(value, dict):
        return {name: value}
    return {
        key: leaf for part, inner in value.items() for key, leaf in _flat(f"{name}.{part}", inner).items()
    }


def _text(value: Any) -> str:
    return "none" if value is None else repr(value)
