"""Replays on the fake engine: a scenario and rules in, records and a log of them out."""

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from fake_engine import FakeEngine
from result_builder import manifest

from bench.engines.contract import Batch
from bench.replay.active_strategy import ActiveStrategy
from bench.replay.clock import Clock, ModelledClock
from bench.replay.replay import replay as replay_stream
from bench.replay.step_log import ReplayTimes
from bench.results.folders import RunResult
from bench.results.query_effect import QueryEffect, query_effects
from bench.results.records import (
    CompactionRecord,
    DecisionRecord,
    MaintenanceRecord,
    ObserveRecord,
    QueryRecord,
)
from bench.results.tables import RunRecords
from bench.results.values import Cost
from bench.scenario.scenario import Scenario
from strategies.strategy import Rule, Strategy


class KeptRecords:
    """Stands in for a Recorder and keeps the records."""

    def __init__(self) -> None:
        self.records: list[Any] = []

    def write(self, kind: type[Any], fields: Mapping[str, Any]) -> None:
        self.records.append(kind(written_utc="2026-01-05T09:00:00Z", **fields))

    def of(self, kind: type[Any]) -> list[Any]:
        return [r for r in self.records if isinstance(r, kind)]

    @property
    def effects(self) -> tuple[QueryEffect, ...]:
        """The compactions with the queries around them."""
        return tuple(query_effects(RunResult(Path(), manifest(), RunRecords.listed(self.records))))

    def log(self) -> list[str]:
        """A line a record; of the probes the primary one only."""
        return [_line(r) for r in self.records if not (isinstance(r, QueryRecord) and not r.primary)]

    def ticks(self) -> list[str]:
        """The log with a line a tick."""
        by_tick = groupby(self.log(), key=lambda line: line.partition(" ")[0])
        return [f"{tick} " + ", ".join(line.partition(" ")[2] for line in lines) for tick, lines in by_tick]


def _line(record: Any) -> str:
    detail = record.status
    if isinstance(record, ObserveRecord):
        detail = f"after {record.after}"
    if isinstance(record, QueryRecord):
        detail = record.when
    if isinstance(record, DecisionRecord):
        detail = f"{record.strategy} {record.rule} {record.status}"
    if isinstance(record, MaintenanceRecord):
        detail = f"{record.command.partition('(')[0]} {record.status}"
    if isinstance(record, CompactionRecord):
        detail = f"{record.status} of {record.scheduled_at_ms / 1000:g}s"
    return f"{record.tick} {record.kind} {detail}"


def batches(scenario: Scenario) -> list[Batch]:
    return [Batch(spec, (), spec.expected_bytes) for spec in scenario.shape()]


def replay(
    scenario: Scenario,
    *rules: Rule,
    engine: FakeEngine | None = None,
    stream: Iterable[Batch] | None = None,
    after_compaction: Any = None,
    clock: Clock | None = None,
    fixed_work: Callable[[], Cost] | None = None,
    drop_page_cache: Callable[[], None] | None = None,
) -> tuple[KeptRecords, ReplayTimes]:
    """What one run of strategy `mine` with `rules` records."""
    recorder = KeptRecords()
    strategy = ActiveStrategy(Strategy("mine", rules))
    times = replay_stream(
        scenario,
        strategy,
        engine or FakeEngine(),
        batches(scenario) if stream is None else stream,
        recorder,
        clock or ModelledClock(),
        after_compaction=after_compaction,
        fixed_work=fixed_work,
        drop_page_cache=drop_page_cache,
    )
    return recorder, times
