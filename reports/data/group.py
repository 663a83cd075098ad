"""Groups of comparable runs: the runs themselves, their figures, and what they have in common."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from bench.results.best_schedules import LABEL as HINDSIGHT
from bench.results.folders import RunResult
from bench.results.records import CompactionRecord, Manifest
from bench.results.rows import (
    BREAK_EVEN,
    Row,
    common_delete_words,
    in_delete_words,
    is_disturbing,
    rows,
    timed,
    usable,
)
from reports.data.cost import COMPACTION_CPU, COMPACTION_TIME, TOTAL_CPU, CostMetric
from reports.phrases import some_of

_SETS_SHOWN = 3
LABELS_SHOWN = 4


@dataclass(frozen=True, eq=False)
class RunGroup:
    """All runs of one scenario, workload and mode; strategies in the order they first ran.

    Which runs are usable is said by `bench.results.rows.usable`.
    """

    rows: tuple[Row, ...]
    runs: tuple[RunResult, ...]
    whole: "RunGroup | None" = None  # the group that this is a part of (`parts`)
    # By strategy, those with the same figures, which `distinct` has left out.
    alike: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def strategies(self) -> tuple[str, ...]:
        return tuple(row.strategy for row in self.rows)

    @property
    def manifest(self) -> Manifest:
        """What the runs share: the manifest of the first run without a variant, or else of the first run."""
        return next((run for run in self.runs if run.manifest.variant is None), self.runs[0]).manifest

    def distinct(self) -> "RunGroup":
        """Without strategies whose figures are all those of an earlier one, as cells of a sweep may have."""
        sets: dict[str, list[Row]] = {}
        for row in self.rows:
            kept = next((own[0].strategy for own in sets.values() if own[0].values == row.values), None)
            sets.setdefault(kept or row.strategy, []).append(row)
        runs = tuple(run for run in self.runs if run.manifest.strategy in sets)
        alike = {label: tuple(row.strategy for row in own[1:]) for label, own in sets.items() if own[1:]}
        return RunGroup(tuple(own[0] for own in sets.values()), runs, alike=alike)

    @property
    def alike_in_words(self) -> str:
        """Which strategies `distinct` left out, the largest sets first; empty if none."""
        sets = sorted(self.alike.items(), key=lambda item: -len(item[1]))
        texts = [f"{some_of(labels, LABELS_SHOWN)} like {kept}" for kept, labels in sets[:_SETS_SHOWN]]
        more = f"; and {len(sets) - _SETS_SHOWN:,} more such sets" if len(sets) > _SETS_SHOWN else ""
        return "; ".join(texts) + more

    def twins(self, strategy: str) -> tuple[str, ...]:
        """The other strategies to choose from that did exactly the same: all their figures are equal.

        Except for the health of the table, which only a planner of Amoro states.
        """
        own = _without_health(self.row(strategy))
        return tuple(
            row.strategy for row in self.choices if row.strategy != strategy and _without_health(row) == own
        )

    @property
    def attainable(self) -> tuple[Row, ...]:
        """The rows without best schedules in hindsight, which nobody can choose in advance."""
        return tuple(row for row in self.rows if not row.strategy.startswith(HINDSIGHT))

    @property
    def choices(self) -> tuple[Row, ...]:
        """The rows that a policy is chosen from: of the scenario as it is, or else of the first variant."""
        return tuple(row for row in self.attainable if row.variant == self.rows[0].variant)

    @cached_property
    def parts(self) -> tuple["RunGroup", ...]:
        """The runs of each part in which a policy is chosen (`parts_of`); the group itself if it has one."""
        parts = parts_of(self.rows)
        return (self,) if len(parts) < 2 else tuple(map(self._of, parts))

    def _of(self, rows: tuple[Row, ...]) -> "RunGroup":
        labels = {row.strategy for row in rows}
        return RunGroup(rows, tuple(run for run in self.runs if run.manifest.strategy in labels), self)

    @cached_property
    def usable_runs(self) -> tuple[RunResult, ...]:
        return tuple(run for run in self.runs if usable(run))

    @cached_property
    def timed_runs(self) -> tuple[RunResult, ...]:
        """Runs whose timings count."""
        return tuple(run for run in self.usable_runs if timed(run))

    @cached_property
    def watched_runs(self) -> tuple[tuple[RunResult, float], ...]:
        """The usable runs that recorded how many cores other processes used, with that number."""
        ended = ((run, run.end) for run in self.usable_runs if run.end is not None)
        return tuple((run, end.other_cores) for run, end in ended if end.other_cores is not None)

    @cached_property
    def disturbed_runs(self) -> tuple[tuple[RunResult, float], ...]:
        """The watched runs that they disturbed."""
        return tuple((run, cores) for run, cores in self.watched_runs if is_disturbing(cores))

    @cached_property
    def first_runs(self) -> Mapping[str, RunResult]:
        """The first usable repetition of each strategy that has one."""
        by_label: dict[str, RunResult] = {}
        for run in sorted(self.usable_runs, key=lambda r: (r.manifest.suite_id, r.manifest.repetition)):
            by_label.setdefault(run.manifest.strategy, run)
        return {label: by_label[label] for label in self.strategies if label in by_label}

    @cached_property
    def figures(self) -> Mapping[str, Mapping[Path, Mapping[str, float | None]]]:
        """Every metric of every usable run, by strategy, then by the folder of the run."""
        if self.whole is not None:
            return {label: self.whole.figures[label] for label in self.strategies}
        return {row.strategy: self._figures_of(row) for row in self.rows}

    def _figures_of(self, row: Row) -> Mapping[Path, Mapping[str, float | None]]:
        """A row has the values of each run, ordered by repetition, and one metric that no run has alone."""
        runs = sorted(self.usable_runs_of(row.strategy), key=lambda run: run.manifest.repetition)
        return {
            run.folder: {name: values[place] for name, values in row.run_values.items()} | {BREAK_EVEN: None}
            for place, run in enumerate(runs)
        }

    @cached_property
    def compaction_cost(self) -> CostMetric:
        """Process CPU seconds of the compactions; wall seconds where no CPU was recorded."""
        has_cpu = any(row.values["compaction_cpu_s"] for row in self.rows)
        return COMPACTION_CPU if has_cpu else COMPACTION_TIME

    @cached_property
    def cost(self) -> CostMetric:
        """The cost that strategies are compared by: of compactions alone if all strategies commit alike.

        A writer, table properties or a format that leaves less to compact may cost more in each commit.
        """
        if self.whole is not None:
            return self.whole.cost
        return TOTAL_CPU if len(self._ways_to_commit) > 1 else self.compaction_cost

    @property
    def cost_metric(self) -> str:
        return self.cost.metric

    @cached_property
    def _ways_to_commit(self) -> frozenset[str]:
        ways = ([row.format, *self._writing(row.strategy)] for row in self.rows)
        return frozenset(json.dumps(way, sort_keys=True) for way in ways)

    def usable_runs_of(self, strategy: str) -> tuple[RunResult, ...]:
        return tuple(run for run in self.usable_runs if run.manifest.strategy == strategy)

    def runs_with(self, metric: str, strategy: str) -> tuple[RunResult, ...]:
        """The usable runs of a strategy in which the metric has a value."""
        figures = self.figures[strategy]
        return tuple(run for run in self.usable_runs_of(strategy) if figures[run.folder][metric] is not None)

    def values(self, metric: str, runs: Iterable[RunResult]) -> tuple[float, ...]:
        """The values of a metric in these runs, in their order."""
        values = (self.figures[run.manifest.strategy][run.folder][metric] for run in runs)
        return tuple(value for value in values if value is not None)

    @property
    def has_deletes(self) -> bool:
        """Whether delete files occur: the stream updates or deletes rows, or one was seen."""
        return any(row.values["delete_files_mean"] is not None for row in self.rows)

    @cached_property
    def delete_words(self) -> tuple[str, str]:
        """What the format calls delete files and the rows in them; the general words where formats differ."""
        return common_delete_words(self.rows)

    def in_delete_words(self, text: str) -> str:
        """A text about delete files in the words of the format: Log files, 3 log files, log records."""
        return in_delete_words(text, self.delete_words)

    @cached_property
    def late_strategies(self) -> frozenset[str]:
        """The strategies that compact at the last tick only, in all their runs."""
        times: dict[str, set[int]] = {}
        for run in self.usable_runs:
            at_ms = run.of(CompactionRecord).column("at_ms").tolist()
            times.setdefault(run.manifest.strategy, set()).update(at_ms)
        return frozenset(label for label, at_ms in times.items() if at_ms == {self.manifest.duration_ms})

    def manifest_of(self, strategy: str) -> Manifest:
        """The manifest of the first run of a strategy."""
        return next(run.manifest for run in self.runs if run.manifest.strategy == strategy)

    def definition(self, strategy: str) -> Mapping[str, Any]:
        """The strategy as its own run's scenario defines it; empty if the scenario was not recorded."""
        definitions: Any = self.manifest_of(strategy).scenario_text.get("strategies", ())
        return next((one for one in definitions if one["label"] == strategy), {})

    def writes_otherwise(self, strategy: str) -> bool:
        """Whether a strategy commits in another way than `never`, by its writer or table properties."""
        baseline = self.row(strategy).baseline
        others = self._writing(baseline) if baseline in self.strategies else [{}, {}]
        return self._writing(strategy) != others

    def _writing(self, strategy: str) -> list[Any]:
        definition = self.definition(strategy)
        return [definition.get(part) or {} for part in ("writer", "properties")]

    @property
    def is_simulated(self) -> bool:
        """Whether its times are modelled: they repeat exactly and have no noise."""
        return self.manifest.mode == "simulated"

    def row(self, strategy: str) -> Row:
        """The figures of one strategy. Raises KeyError for a label that did not run."""
        return {row.strategy: row for row in self.rows}[strategy]

    @property
    def baseline(self) -> Row | None:
        """The first row of `never`, in the scenario as it is, if it has a latency."""
        row = next((row for row in self.rows if row.is_baseline), None)
        return row if row is not None and row.values["query_mean_s"] is not None else None


def _without_health(row: Row) -> Mapping[str, float | None]:
    return {name: value for name, value in row.values.items() if not name.startswith("health")}


def parts_of(rows: Sequence[Row]) -> tuple[tuple[Row, ...], ...]:
    """The parts of a group's rows in which a policy is chosen.

    The first holds the scenario's own format, with the variants in that format. Each variant in another
    format is a part of its own, even if two of them have the same format.
    """
    own = next((row.format for row in rows if row.variant is None), rows[0].format if rows else "")
    by_part: dict[str | None, list[Row]] = {None: []}
    for row in rows:
        by_part.setdefault(None if row.format == own else row.variant, []).append(row)
    return tuple(tuple(part) for part in by_part.values() if part)


def run_groups(runs: Iterable[RunResult]) -> tuple[RunGroup, ...]:
    """One group per scenario, workload and mode, in the order of their names."""
    by_key: dict[tuple[str, str, str], list[RunResult]] = {}
    for run in runs:
        by_key.setdefault(run.manifest.group_key, []).append(run)
    return tuple(RunGroup(rows(by_key[key]), tuple(by_key[key])) for key in sorted(by_key))
