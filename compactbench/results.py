"""Stored runs as pandas frames, with the comparisons and reports of the command line."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pandas as pd
import pyarrow as pa

from bench.comparison.groups import (
    Selection,
    Side,
    compare_old_and_new,
    compare_pooled,
    decided_jointly,
    metrics_named,
)
from bench.errors import ScenarioError, writing_report
from bench.results.folders import RunResult
from bench.results.metrics import METRICS
from bench.results.pooling import Strictness
from reports.data.export import parts
from reports.data.group import RunGroup, run_groups
from reports.page.render import overview, render
from reports.verdicts.unmodelled import without_verdict

_DEFAULT = "results"  # where `compactbench run` writes
_Folder = str | os.PathLike[str]


def load(*results: _Folder) -> "Results":
    """The runs below these folders of results, or parts of them; by default below `results`.

    Raises ResultSchemaError if there is no run, or if one is damaged or cannot be read.
    """
    if not all(isinstance(folder, str | os.PathLike) for folder in results):
        raise TypeError("give folders, each as an argument")
    side = Side.read(*map(Path, results or (_DEFAULT,)))
    return Results(side.folders, side.runs)


@dataclass(frozen=True, eq=False)
class Results:
    """Runs of any scenarios and strategies, simulated or real: `mode` says which.

    The frames are the tables that `compactbench export` writes. Each has the columns that identify a run
    (`run_id`, `scenario`, `workload`, `format`, `mode`, `strategy`, `repetition`). Names end with the unit:
    `_s` seconds, `_ms` milliseconds, `_bytes`, `_count`; `at_ms` is scenario time since the initial load.
    What is not known is NaN or None. Options and lists are JSON text. A frame is the caller's own: changing
    it changes nothing here.
    """

    folders: tuple[Path, ...]
    _stored: tuple[RunResult, ...] = field(repr=False)
    _tables: dict[str, pa.Table] = field(default_factory=dict, init=False, repr=False)

    @property
    def runs(self) -> pd.DataFrame:
        """A line per run: its manifest and its end. Figures of runs without `usable` are not to be used."""
        return self._frame("runs")

    @property
    def metrics(self) -> pd.DataFrame:
        """A line per usable run and metric: its `value` in its `unit`."""
        return self._frame("metrics")

    @property
    def compactions(self) -> pd.DataFrame:
        """A line per compaction, with the primary queries before and after it (`query_before_s`, ...)."""
        return self._frame("compactions")

    @property
    def commits(self) -> pd.DataFrame:
        """A line per commit of the stream."""
        return self._frame("commits")

    @property
    def queries(self) -> pd.DataFrame:
        """A line per query, by each kind of `session`; `when` says at which moment of a tick."""
        return self._frame("queries")

    @property
    def decisions(self) -> pd.DataFrame:
        """A line per evaluation of a rule, whether or not it led to a plan."""
        return self._frame("decisions")

    def summary(self) -> pd.DataFrame:
        """A row per scenario, workload, mode and strategy: means over its usable runs, by metric name.

        The figures of `compactbench show`; `compactbench list metrics` explains them with their units.
        `without_verdict` names those of a simulation that the cost model does not cover.
        """
        lines = [
            {**row.to_flat(), "without_verdict": " ".join(without_verdict(group, row.strategy))}
            for group in self._groups
            for row in group.rows
        ]
        return pd.DataFrame(lines).astype({metric.name: float for metric in METRICS})

    def compare(
        self,
        old: "Results | _Folder | None" = None,
        *,
        baseline: str | None = None,
        metrics: str | Sequence[str] = (),
        allow_mixed: bool = False,
    ) -> pd.DataFrame:
        """A line per strategy and metric, as `compactbench compare` has it.

        Each strategy is compared with itself in `old` results, which may be their folder, or else with the
        `baseline`, by default `never`. `metrics` are names, or "all"; by default the cost and what it
        achieves. `figure` and `against_figure` are means in the `unit`; `ratio` has the 95 % interval `low`
        to `high`, and a `verdict`. `attrs["notes"]` says in which versions, options and rules the runs
        differ, and what is assumed. Runs of several machines, versions or options are refused unless
        `allow_mixed`.

        Raises ScenarioError for unknown names and where there is nothing to compare, and ResultSchemaError
        for runs that must not be combined.
        """
        if old is not None and baseline is not None:
            raise ScenarioError("give only one of them", code="exclusive", path="old, baseline")
        if old is not None and not isinstance(old, Results):
            old = load(old)
        names = metrics_named([metrics] if isinstance(metrics, str) else metrics)
        strictest = Strictness.ON_REQUEST if allow_mixed else Strictness.REPORTED
        selection = Selection(names, only=(), limits=(), strictest=strictest)
        groups = decided_jointly(
            compare_pooled(self._side, baseline, selection)
            if old is None
            else compare_old_and_new(old._side, self._side, selection)
        )
        lines = pd.DataFrame([record for group in groups for record in group.records])
        lines.attrs["notes"] = [
            note
            for group in groups
            for note in (*(f"differs: {difference}" for difference in group.differences), *group.notes)
        ]
        return lines

    def report(self, folder: _Folder) -> Path:
        """Write the report into a folder that is new, empty or an earlier report's; returns its page.

        Raises ScenarioError if it cannot be written there.
        """
        with writing_report(folder):
            return render(self._stored, Path(folder))

    def _repr_html_(self) -> str:
        """An overview for notebooks: the summary of the report."""
        return overview(self._groups)

    def _frame(self, name: str) -> pd.DataFrame:
        if name not in self._tables:
            self._tables[name] = pa.concat_tables(parts(self._stored, name))
        frame: pd.DataFrame = self._tables[name].to_pandas()
        return frame

    @cached_property
    def _groups(self) -> tuple[RunGroup, ...]:
        return run_groups(self._stored)

    @property
    def _side(self) -> Side:
        return Side(self.folders, self._stored)
