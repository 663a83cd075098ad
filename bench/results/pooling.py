"""Which runs may be put together: what of their provenance must agree, and how strictly.

`metrics.rows` refuses what is never pooled, the report cautions about any difference, and
`compactbench compare` refuses the rest too unless told `--allow-mixed`.

    field                                within one set of results        old against new
    mode, format, workload, scenario,
      scenario_hash, change_log_hash,
      seed                               never                            never
    strategy_hash, a strategy at a time  never                            told: it may be what is tested
    machine (cpu, cores, ram_bytes),
      memory_bytes                       asked                            asked: one cannot tell it from
                                                                          what is tested
    versions, git (commit, dirty),
      options, a strategy at a time      asked                            told: they may be what is tested

The machine's load and kernel are in the manifest for a reader, and no reason to refuse; `verify` is
dealt with by `timings_invalid`; notes and the resolved scenario say the same as versions and scenario_hash.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from typing import Any

from bench.errors import ResultSchemaError
from bench.results.folders import RunResult
from bench.results.records import Manifest


class Strictness(IntEnum):
    """What becomes of runs that differ: told and used, refused unless asked for, always refused."""

    TOLD = 1
    ASKED = 2
    NEVER = 3


@dataclass(frozen=True, slots=True)
class Checked:
    """A part of the manifest that is compared. `words` is how a report calls it."""

    field: str
    words: str
    within: Strictness
    between: Strictness  # an old set of results and a new one
    of: Callable[[Manifest], Any]
    by_strategy: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """Two runs that differ in `field` (dotted where only a part of it differs)."""

    checked: Checked
    field: str
    runs: tuple[RunResult, RunResult]
    values: tuple[Any, Any]

    def __str__(self) -> str:
        of_strategy = f" of {self.runs[0].manifest.strategy!r}" if self.checked.by_strategy else ""
        one, other = self.values
        return f"{self.field}{of_strategy} ({_text(one)} and {_text(other)})"


def _plain(name: str) -> Callable[[Manifest], Any]:
    return lambda manifest: getattr(manifest, name)


_NEVER, _ASKED, _TOLD = Strictness.NEVER, Strictness.ASKED, Strictness.TOLD
CHECKED: tuple[Checked, ...] = (
    Checked("mode", "the mode", _NEVER, _NEVER, _plain("mode")),
    Checked("format", "the format", _NEVER, _NEVER, _plain("format")),
    Checked("workload", "the workload", _NEVER, _NEVER, _plain("workload")),
    Checked("scenario", "the scenario", _NEVER, _NEVER, _plain("scenario")),
    Checked("scenario_hash", "the scenario", _NEVER, _NEVER, _plain("scenario_hash")),
    Checked("change_log_hash", "the change log", _NEVER, _NEVER, _plain("change_log_hash")),
    Checked("seed", "the seed", _NEVER, _NEVER, _plain("seed")),
    Checked("strategy_hash", "a strategy's rules", _NEVER, _TOLD, _plain("strategy_hash"), by_strategy=True),
    Checked("machine", "the machine", _ASKED, _ASKED,
            lambda m: {part: m.machine.get(part) for part in ("cpu", "cores", "ram_bytes")}),
    Checked("memory_bytes", "the memory", _ASKED, _ASKED, _plain("memory_bytes")),
    Checked("versions", "versions", _ASKED, _TOLD, _plain("versions")),
    Checked("git", "the git state of compactbench", _ASKED, _TOLD,
            lambda m: {part: m.git.get(part) for part in ("commit", "dirty")}),
    Checked("options", "options", _ASKED, _TOLD, _plain("options"), by_strategy=True),
)  # fmt: skip


def differences(runs: Iterable[RunResult]) -> tuple[Difference, ...]:
    """Everything checked in which some of `runs` differ, in the order of `CHECKED`.

    Each part that differs is told once, with the first run and the first that differs from it.
    """
    ordered = tuple(runs)
    by_label = sorted(ordered, key=lambda run: run.manifest.strategy)
    of_each = [tuple(group) for _, group in groupby(by_label, key=lambda run: run.manifest.strategy)]
    return tuple(
        found
        for checked in CHECKED
        for group in (of_each if checked.by_strategy else [ordered])
        for found in _differences(checked, group)
    )


def check_pooled(
    runs: Iterable[RunResult], strictest: Strictness = Strictness.TOLD
) -> tuple[Difference, ...]:
    """The differences within one set of results that are borne with.

    Raises ResultSchemaError for one that is stricter than `strictest`.
    """
    found = differences(runs)
    return _bearable(found, [one.checked.within for one in found], strictest)


def check_old_and_new(
    old: Iterable[RunResult], new: Iterable[RunResult], strictest: Strictness = Strictness.TOLD
) -> tuple[Difference, ...]:
    """The differences between two sets of results that are borne with, each set checked on its own before.

    Raises ResultSchemaError for one that is stricter than `strictest`, and for a run on both sides.
    """
    old, new = tuple(old), tuple(new)
    known = {_identity(run): run for run in old}
    twice = next((run for run in new if _identity(run) in known), None)
    if twice is not None:
        raise ResultSchemaError(
            f"{known[_identity(twice)].folder} and {twice.folder}: the same run on both sides; give an older "
            "and a newer set of results"
        )
    found = differences((*old, *new))
    return _bearable(found, [one.checked.between for one in found], strictest)


def _identity(run: RunResult) -> tuple[str, str]:
    return (run.manifest.suite_id, run.manifest.run_id)


def _bearable(
    found: Sequence[Difference], how: Sequence[Strictness], strictest: Strictness
) -> tuple[Difference, ...]:
    worst = max(zip(how, found, strict=True), key=lambda pair: pair[0], default=None)
    if worst is not None and worst[0] > strictest:
        strictness, difference = worst
        one, other = (run.folder for run in difference.runs)
        raise ResultSchemaError(
            f"{one} and {other}: runs that differ in {difference}{_definitions(difference)}: they must not "
            f"be put together; {_remedy(difference, strictness)}"
        )
    return tuple(found)


def _remedy(difference: Difference, strictness: Strictness) -> str:
    if strictness is Strictness.ASKED:
        return "give results that agree, or --allow-mixed to use them all the same"
    if difference.field == "mode":
        return "simulated seconds are no measured ones: give either"
    return "give the results of one definition only"


def _definitions(difference: Difference) -> str:
    """What the two definitions behind differing hashes say differently, the first three keys of it."""
    if difference.field != "scenario_hash":
        return ""
    one, other = (_definition(run.manifest) for run in difference.runs)
    keys = [key for key in {**one, **other} if one.get(key) != other.get(key)]
    told = ", ".join(f"{key} {_text(one.get(key))} and {_text(other.get(key))}" for key in keys[:3])
    return f", that is {told}{' and more' if len(keys) > 3 else ''}" if told else ""


def _definition(manifest: Manifest) -> dict[str, Any]:
    """The resolved scenario, flat, without what its hash leaves out."""
    left_out = ("description", "repetitions", "strategies")
    said = {key: value for key, value in manifest.scenario_text.items() if key not in left_out}
    return {key.removeprefix("."): value for key, value in _flat("", said).items()}


def _differences(checked: Checked, runs: Sequence[RunResult]) -> list[Difference]:
    flat = [_flat(checked.field, checked.of(run.manifest)) for run in runs]
    found = []
    for field in dict.fromkeys(name for values in flat for name in values):
        first, *others = [values.get(field) for values in flat]
        other = next((index for index, value in enumerate(others, 1) if value != first), None)
        if other is not None:
            found.append(Difference(checked, field, (runs[0], runs[other]), (first, flat[other].get(field))))
    return found


def _flat(name: str, value: Any) -> dict[str, Any]:
    """{"a.b": 1} of a: {b: 1}; an empty mapping adds nothing."""
    if not isinstance(value, dict):
        return {name: value}
    return {
        key: leaf for part, inner in value.items() for key, leaf in _flat(f"{name}.{part}", inner).items()
    }


def _text(value: Any) -> str:
    return "none" if value is None else repr(value)
