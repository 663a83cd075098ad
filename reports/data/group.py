"""Runs in the form reports need: a `RunGroup` per set of comparable runs, and tidy frames of records."""

import json
import types
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np
import pandas as pd

from bench.results.amplification import common_content_bytes
from bench.results.folders import RunResult
from bench.results.records import (
    CompactionRecord,
    DecisionRecord,
    Manifest,
    ObserveRecord,
    QueryRecord,
)
from bench.results.rows import (
    METRIC_BY_NAME,
    Row,
    common_delete_words,
    in_delete_words,
    rows,
    run_figures,
    timed,
    usable,
)
from reports.data.cost import COMPACTION_CPU, COMPACTION_TIME, TOTAL_CPU, Cost
from reports.verdicts.compare import Comparison
from reports.verdicts.judge import Circumstances, judge
from reports.verdicts.pairs import longest_repetitions, pairs, sittings
from reports.verdicts.repeating import bytes_noise
from reports.verdicts.sittings import Sample, SittingEffect
from reports.verdicts.trend import Trend, trend_of_runs
from reports.verdicts.trend_series import trend_series
from reports.verdicts.unmodelled import unmodelled, unmodelled_between

RUN_COLUMNS = ("run_id", "scenario", "workload", "format", "mode", "strategy", "repetition")
DISTURBED_ABOVE_CORES = 0.2  # cores that other processes used during a run, on average
_IN_FORCE = {"strategy": "strategy_in_force"}  # in a decision: a switch may have changed it during the run


@dataclass(frozen=True)
class RunGroup:
    """All runs of one scenario, workload and mode; strategies in the order they first ran.

    Frames contain usable runs only (finished, and no content check failed); those with timings also leave out
    runs with invalid timings. A failed query is NaN: a gap, never 0.
    """

    rows: tuple[Row, ...]
    runs: tuple[RunResult, ...]
    whole: "RunGroup | None" = None  # what it is a part of (`parts`)

    @property
    def strategies(self) -> tuple[str, ...]:
        return tuple(row.strategy for row in self.rows)

    @property
    def manifest(self) -> Manifest:
        """What the runs share, read from the first of them that is in no variant, if there is one."""
        return next((run for run in self.runs if run.manifest.variant is None), self.runs[0]).manifest

    @property
    def choices(self) -> tuple[Row, ...]:
        """The rows that a policy is chosen from: those of the scenario as it is, or of the first variant."""
        return tuple(row for row in self.rows if row.variant == self.rows[0].variant)

    @cached_property
    def parts(self) -> tuple["RunGroup", ...]:
        """The runs of each part in which a policy is chosen (`parts_of`); the group itself if it has one."""
        found = parts_of(self.rows)
        return (self,) if len(found) < 2 else tuple(map(self._of, found))

    def _of(self, rows: tuple[Row, ...]) -> "RunGroup":
        labels = {row.strategy for row in rows}
        return RunGroup(rows, tuple(run for run in self.runs if run.manifest.strategy in labels), self)

    @cached_property
    def usable_runs(self) -> tuple[RunResult, ...]:
        """Runs whose exact figures count."""
        return tuple(run for run in self.runs if usable(run))

    @cached_property
    def timed_runs(self) -> tuple[RunResult, ...]:
        """Runs whose timings count."""
        return tuple(run for run in self.usable_runs if timed(run))

    @cached_property
    def watched_runs(self) -> tuple[tuple[RunResult, float], ...]:
        """The usable runs of which it is known how many cores other processes used, and how many."""
        ended = ((run, run.end) for run in self.usable_runs if run.end is not None)
        return tuple((run, end.other_cores) for run, end in ended if end.other_cores is not None)

    @cached_property
    def disturbed_runs(self) -> tuple[tuple[RunResult, float], ...]:
        """Those of them during which other processes used more than `DISTURBED_ABOVE_CORES`."""
        return tuple((run, cores) for run, cores in self.watched_runs if cores > DISTURBED_ABOVE_CORES)

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
        by_label: dict[str, dict[Path, Mapping[str, float | None]]] = {label: {} for label in self.strategies}
        content_bytes = common_content_bytes(self.usable_runs)
        for run in self.usable_runs:
            by_label[run.manifest.strategy][run.folder] = run_figures(run, content_bytes)
        return by_label

    @cached_property
    def compaction_cost(self) -> Cost:
        """Process CPU seconds of the compactions; wall seconds where no CPU was recorded."""
        has_cpu = any(row.values["compaction_cpu_s"] for row in self.rows)
        return COMPACTION_CPU if has_cpu else COMPACTION_TIME

    @cached_property
    def cost(self) -> Cost:
        """The cost that strategies are compared by: that of compactions, if their commits are all alike.

        A writer, table properties or a format that leaves less to compact may pay for that in each commit.
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

    @cached_property
    def latency(self) -> pd.DataFrame:
        """The settled primary query: wall_s, planning_s, execution_s over at_ms."""
        every = frame(self.timed_runs, QueryRecord)
        primary = every[every["primary"].astype(bool) & (every["when"] == "settled")].reset_index(drop=True)
        timings = ["wall_s", "planning_s", "execution_s"]
        primary[timings] = primary[timings].astype(float).mask(primary["status"] != "ok")
        return primary

    @cached_property
    def observations(self) -> pd.DataFrame:
        """The table after each commit and compaction, in order; `place` numbers those of one instant."""
        found = frame(self.usable_runs, ObserveRecord)
        found["place"] = found.groupby(["run_id", "at_ms"]).cumcount()
        return found

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
    def health(self) -> pd.DataFrame:
        """The health scores planners reported (`health_score`), a line per evaluation, in order."""
        decisions = frame(self.usable_runs, DecisionRecord)
        decisions["health_score"] = [(figures or {}).get("health_score") for figures in decisions["figures"]]
        return decisions.dropna(subset="health_score").astype({"health_score": float})

    @cached_property
    def compactions(self) -> pd.DataFrame:
        """Every compaction of every usable run, in order."""
        return frame(self.usable_runs, CompactionRecord)

    @cached_property
    def late_strategies(self) -> frozenset[str]:
        """The strategies that compact at the last tick only, in all their runs."""
        times: dict[str, set[int]] = {}
        for run in self.usable_runs:
            times.setdefault(run.manifest.strategy, set()).update(c.at_ms for c in run.of(CompactionRecord))
        return frozenset(label for label, at_ms in times.items() if at_ms == {self.manifest.duration_ms})

    def manifest_of(self, strategy: str) -> Manifest:
        """That of the first run of a strategy."""
        return next(run.manifest for run in self.runs if run.manifest.strategy == strategy)

    def definition(self, strategy: str) -> Mapping[str, Any]:
        """The strategy as the scenario of its own run defines it; empty where that is not recorded."""
        strategies = self.manifest_of(strategy).scenario_text.get("strategies")
        definitions = strategies if isinstance(strategies, list) else []
        return next((d for d in definitions if isinstance(d, dict) and d.get("label") == strategy), {})

    def writes_otherwise(self, strategy: str) -> bool:
        """Whether the commits of a strategy differ from those of `never`, by its writer or properties."""
        baseline = self.row(strategy).baseline
        others = self._writing(baseline) if baseline in self.strategies else [{}, {}]
        return self._writing(strategy) != others

    def _writing(self, strategy: str) -> list[Any]:
        definition = self.definition(strategy)
        return [definition.get(part) or {} for part in ("writer", "properties")]

    @cached_property
    def file_sizes(self) -> Mapping[str, Mapping[int, int]]:
        """Live data files at the end of each strategy's first usable run: lower bound in bytes -> count."""
        ends = {label: run.end for label, run in self.first_runs.items()}
        return {label: dict(end.file_sizes) for label, end in ends.items() if end is not None}

    @property
    def is_simulated(self) -> bool:
        """Whether its times are modelled: they repeat exactly and have no noise."""
        return self.manifest.mode == "simulated"

    @property
    def is_quick(self) -> bool:
        """Whether some of its runs shared a JVM with others (`run --quick`)."""
        return any(run.manifest.is_quick for run in self.runs)

    def samples(self, metric: str, a: str, b: str) -> tuple[Sample, Sample, bool]:
        """One metric of two strategies, and whether their runs are paired.

        Every run with a value is in its sample. Paired samples are in the same order of repetitions.
        """
        a_runs, b_runs = self._with_value(metric, a), self._with_value(metric, b)
        found = pairs(a_runs, b_runs, self._longest_repetitions_s) if a_runs else None
        if found:
            a_runs, b_runs = (tuple(side) for side in zip(*found, strict=True))
        return self._sample(metric, a_runs), self._sample(metric, b_runs), bool(found)

    def sample(self, metric: str, strategy: str) -> Sample:
        """One metric of the runs of a strategy that have a value."""
        return self._sample(metric, self._with_value(metric, strategy))

    def compare(
        self, metric: str, strategy: str, other: str, sitting: SittingEffect | None = None
    ) -> Comparison:
        """One metric of two strategies: in pairs if each run has a partner, else as groups."""
        return self.compare_samples(metric, strategy, other, self.samples(metric, strategy, other), sitting)

    def compare_samples(
        self, metric: str, strategy: str, other: str, samples: tuple[Sample, Sample, bool],
        sitting: SittingEffect | None = None,
    ) -> Comparison:  # fmt: skip
        """The same of samples that have been drawn (`samples`)."""
        a, b, are_paired = samples
        given = self._circumstances(metric, (strategy, other), (self,), sitting)
        return judge(METRIC_BY_NAME[metric].basis, a, b, replace(given, are_paired=are_paired))

    def compare_with_old(
        self, old: "RunGroup", metric: str, strategy: str, sitting: SittingEffect | None = None
    ) -> Comparison:
        """One metric of a strategy compared with itself in old results, as groups."""
        given = self._circumstances(metric, (strategy,), (self, old), sitting)
        a, b = self.sample(metric, strategy), old.sample(metric, strategy)
        return judge(METRIC_BY_NAME[metric].basis, a, b, given)

    @cached_property
    def latency_trends(self) -> Mapping[str, Trend]:
        """Whether the settled latency of each strategy rises against that of the control query."""
        return {label: self._latency_trend(label) for label in self.strategies}

    def _latency_trend(self, strategy: str) -> Trend:
        own = [run for run in self.timed_runs if run.manifest.strategy == strategy]
        runs = [] if self.is_simulated else own  # modelled latencies have no trend of their own
        return trend_of_runs([trend_series([run]) for run in runs], trend_series(runs))

    def _circumstances(
        self,
        metric: str,
        strategies: Collection[str],
        groups: Sequence["RunGroup"],
        sitting: SittingEffect | None,
    ) -> Circumstances:
        given = Circumstances(is_simulated=self.is_simulated, sitting=sitting)
        if self.is_simulated:
            reasons = (unmodelled(group, label) for group in groups for label in strategies)
            own = next((reason for reason in reasons if reason), None)
            return replace(given, unmodelled=own or unmodelled_between(groups, strategies))
        if METRIC_BY_NAME[metric].basis == "bytes":
            values = [group.sample(metric, label).values for group in groups for label in group.strategies]
            return replace(given, bytes_noise=bytes_noise(values))
        return given

    def _with_value(self, metric: str, strategy: str) -> tuple[RunResult, ...]:
        figures = self.figures[strategy]
        return tuple(
            run
            for run in self.usable_runs
            if run.folder in figures and figures[run.folder][metric] is not None
        )

    def _sample(self, metric: str, runs: Sequence[RunResult]) -> Sample:
        values = (self.figures[run.manifest.strategy][run.folder][metric] for run in runs)
        return Sample(
            tuple(value for value in values if value is not None),
            tuple(self._sittings[run.folder] for run in runs),
        )

    @cached_property
    def _sittings(self) -> Mapping[Path, str]:
        return sittings(self.runs)

    @cached_property
    def _longest_repetitions_s(self) -> Mapping[Path, float]:
        return longest_repetitions(self.runs)

    def row(self, strategy: str) -> Row:
        """The figures of one strategy. Raises KeyError for a label that did not run."""
        return {row.strategy: row for row in self.rows}[strategy]

    @property
    def baseline(self) -> Row | None:
        """The first row of `never`, which is that of the scenario as it is, where it has a latency."""
        row = next((row for row in self.rows if row.is_baseline), None)
        return row if row is not None and row.values["query_mean_s"] is not None else None


def parts_of(rows: Sequence[Row]) -> tuple[tuple[Row, ...], ...]:
    """The parts of a group's rows in which a policy is chosen.

    The first has the scenario's own format, and so may its variants. Each variant of another format is one
    of its own, also where two of them have the same format.
    """
    own = next((row.format for row in rows if row.variant is None), rows[0].format if rows else "")
    by_part: dict[str | None, list[Row]] = {None: []}
    for row in rows:
        by_part.setdefault(None if row.format == own else row.variant, []).append(row)
    return tuple(tuple(part) for part in by_part.values() if part)


def run_groups(runs: Iterable[RunResult]) -> tuple[RunGroup, ...]:
    """One group per scenario, workload and mode, in the order of their names."""
    all_runs = tuple(runs)
    by_place: dict[tuple[str, ...], list[Row]] = {}
    for row in rows(all_runs):
        by_place.setdefault((row.scenario, row.workload, row.mode), []).append(row)
    return tuple(
        RunGroup(tuple(by_place[place]), tuple(run for run in all_runs if _place(run.manifest) == place))
        for place in sorted(by_place)
    )


def band(figures: pd.DataFrame, value: str) -> Mapping[str, pd.DataFrame]:
    """Median, low and high over the runs of each strategy, by at_ms (and `place` where there is one)."""
    keys = ["at_ms", "place"] if "place" in figures else ["at_ms"]
    return {
        str(label): part.groupby(keys)[value].agg(["median", "min", "max"]).reset_index()
        for label, part in figures.groupby("strategy", sort=False)
    }


def cumulative(group: RunGroup, value: str, runs: Sequence[RunResult]) -> Mapping[str, pd.DataFrame]:
    """The running total of a compaction figure as a step function: median, min and max over `runs`."""
    totals: dict[str, list[pd.Series[float]]] = {}
    grid = np.unique([0.0, group.manifest.duration_ms, *group.compactions["at_ms"].astype(float)])
    for run in runs:
        made = run.of(CompactionRecord)
        sums = np.concatenate([[0.0], np.cumsum([float(getattr(c, value)) for c in made])])
        steps = sums[np.searchsorted([c.at_ms for c in made], grid, side="right")]
        totals.setdefault(run.manifest.strategy, []).append(pd.Series(steps, index=grid))
    return {label: _spread(series) for label, series in totals.items()}


def _spread(series: list["pd.Series[float]"]) -> pd.DataFrame:
    side_by_side = pd.concat(series, axis=1)
    columns = {
        "median": side_by_side.median(axis=1),
        "min": side_by_side.min(axis=1),
        "max": side_by_side.max(axis=1),
    }
    return pd.DataFrame(columns).rename_axis("at_ms").reset_index()


def frame(runs: Iterable[RunResult], kind: type[Any]) -> pd.DataFrame:
    """The records of one kind as a tidy frame, a line per record, with the columns that identify the run.

    The columns exist even if there is no record.
    """
    fields = _columns(kind)
    lines = [
        {**_run_columns(run.manifest), **{column: getattr(record, name) for name, column in fields.items()}}
        for run in runs
        for record in run.of(kind)
    ]
    return pd.DataFrame(lines, columns=[*RUN_COLUMNS, *fields.values()])


def column_types(kind: type[Any]) -> dict[str, type]:
    """The plain type of each column a record adds to its frame; `dict` for anything structured."""
    return {
        column: _plain_type(kind.model_fields[name].annotation) for name, column in _columns(kind).items()
    }


def _columns(kind: type[Any]) -> dict[str, str]:
    """Field -> column; a record's field with the same name as a column of the run is renamed."""
    is_record = "kind" in kind.model_fields
    renamed = _IN_FORCE if is_record else {}
    return {name: renamed.get(name, name) for name in kind.model_fields if name != "kind"}


def _plain_type(annotation: Any) -> type:
    if get_origin(annotation) is Annotated:
        return _plain_type(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return _plain_type(next(part for part in get_args(annotation) if part is not type(None)))
    if annotation in (bool, int, float, str):
        return annotation  # type: ignore[no-any-return]
    return str if get_origin(annotation) is Literal else dict


def _run_columns(manifest: Manifest) -> dict[str, Any]:
    return {name: getattr(manifest, name) for name in RUN_COLUMNS}


def _place(manifest: Manifest) -> tuple[str, ...]:
    return (manifest.scenario, manifest.workload, manifest.mode)
