"""A scenario as runs use it; `bench.scenario.load` reads it from a file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from bench.engines.contract import Batch, Probe, TableSpec
from bench.engines.keys import TableKeys
from bench.engines.registry import FORMATS
from bench.errors import ScenarioError
from bench.scenario.cadence import Cadence, Phase
from bench.scenario.kept_back import kept_back
from bench.scenario.schema import Catalog, Prices, Resources, Roles, Share, Spark
from bench.scenario.specs import StrategySpec
from bench.scenario.variants import Variant
from bench.secrets import Secrets
from strategies.plan import Capability
from strategies.strategy import Rule, Strategy
from workloads.commit import CommitSpec, Workload
from workloads.history import History
from workloads.partitioning import Partitioning


def partitioning_of(table: TableKeys) -> Partitioning:
    return Partitioning(table.partitioning, table.buckets or Partitioning().buckets)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario with its defaults and overrides applied.

    `document` is its file with the overrides, before secrets are filled in: with it a worker makes the same
    scenario (`load.scenario_of`). `resolved` is the scenario in the form of a file, secrets hidden. `hash`
    covers `resolved` except for the description, repetitions, strategies and variants: runs with more of
    these may join a result folder. `secrets` are the values that must not be written or printed, including
    those of the variants.

    `query_weights` are by tick from 1 on: how many queries arrive from its commit to the next, relative to
    the mean. None if readers ask at a constant rate.

    `variants` holds the scenario in each of its variants, with the same `hash`. In these, `variant` is set
    and strategies have other labels (`records.label_in`).
    """

    file: Path
    document: Mapping[str, Any] = field(repr=False)
    description: str
    seed: int
    duration_ms: int
    commit_interval_ms: int
    commits_count: int
    repetitions: int
    probe_every_ms: int
    side_probe_every_ms: int
    probe_phase: Phase
    page_cache: Literal["cold"] | None
    jvm: Literal["warm"] | None
    has_real_clock: bool
    speed: float
    drain_ms: int
    compaction_delay_ms: int
    compaction_memory_bytes: int | None
    warm_up_rounds: int
    table: TableKeys
    workload: Workload
    workload_name: str
    probes: tuple[Probe, ...]
    strategies: tuple[StrategySpec, ...]
    maintenance: tuple[Rule, ...]
    resources: Resources
    roles: Roles
    prices: Prices
    spark: Spark
    catalog: Catalog | None
    resolved: Mapping[str, Any]
    hash: str
    secrets: Secrets = field(repr=False)
    query_weights: tuple[float, ...] | None = None
    variant: Variant | None = None
    variants: tuple["Scenario", ...] = ()

    @property
    def name(self) -> str:
        """It also names the scenario's folder in results."""
        return self.file.stem

    @property
    def partitioning(self) -> Partitioning:
        if isinstance(self.workload, History):
            return self.workload.partitioning
        return partitioning_of(self.table)

    @property
    def variant_label(self) -> str | None:
        """None for the scenario without changes."""
        return self.variant.label if self.variant else None

    def in_variant(self, label: str | None) -> "Scenario":
        """The scenario in the variant of this label; itself for None. Raises ScenarioError."""
        for scenario in (self, *self.variants):
            if label in (None, scenario.variant_label):
                return scenario
        raise ScenarioError(f"has no variant {label!r}", code="unknown-name", path=self.name)

    def with_strategy(self, label: str) -> "Scenario":
        """The variant that has a strategy of this label; the scenario itself if none has."""
        for variant in self.variants:
            if any(spec.label == label for spec in variant.strategies):
                return variant
        return self

    @property
    def primary_probe(self) -> Probe:
        """The probe whose latency reports compare."""
        return next(probe for probe in self.probes if probe.primary)

    def probe_rate_per_s(self, tick: int) -> float:
        """How often readers ask, in scenario time, from the commit of a tick to the next.

        On average over the stream it is the rate of the role, or as often as probes run. Before the first
        commit (tick 0) it is as after it.
        """
        mean_per_s = self.roles.reader.rate_per_s or 1000 / self.probe_every_ms
        return mean_per_s if self.query_weights is None else mean_per_s * self.query_weights[max(tick, 1) - 1]

    def share_of(self, role: str) -> Share:
        """The resources of the process of a role; the maintainer has the compactor's."""
        shares = {"writer": self.resources.writer, "reader": self.resources.reader}
        return shares.get(role, self.resources.compactor)

    def ticks(self) -> Iterator[tuple[int, int]]:
        """The number (from 1) and the scenario time in milliseconds of each tick of the stream."""
        return ((tick, tick * self.commit_interval_ms) for tick in range(1, self.commits_count + 1))

    def cadence(self, repetition: int) -> Cadence:
        """When the probes run in a repetition; repetitions are counted from 1."""
        return Cadence(
            self.seed, self.commits_count, self.commit_interval_ms, self.probe_every_ms,
            self.side_probe_every_ms, self.probe_phase, repetition,
        )  # fmt: skip

    def table_of(self, spec: StrategySpec) -> TableSpec:
        return TableSpec(
            target_file_size_bytes=self.table.target_file_size_bytes,
            partitioning=self.partitioning,
            keys=self.table,
            properties={**self.table.properties, **spec.properties},
            files_per_commit=spec.writer.files_per_commit,
            upsert_mode=spec.upsert_mode,
            schema=self.workload.schema,
            stream_epoch_ms=self.workload.stream_epoch_ms,
        )

    def shape(self) -> Iterator[CommitSpec]:
        """The shapes of the stream's commits, which are known before any row is generated."""
        return self.workload.shape(self.seed, self.commits_count, self.commit_interval_ms, self.partitioning)

    def commits_of(self, spec: StrategySpec) -> Iterator[CommitSpec]:
        """The commits of a strategy's writer; ticks without rows are left out."""
        batches = kept_back(map(Batch, self.shape()), spec.writer.commit_every_ms)
        return (batch.spec for batch in batches if batch.spec.rows)

    def needs_of(self, spec: StrategySpec) -> frozenset[str]:
        """The capabilities that a strategy needs of an engine."""
        strategy = spec.strategy
        is_delayed = any(rule.delay_or(self.compaction_delay_ms) > 0 for rule in strategy.rules)
        delaying = frozenset({Capability.DELAYED_COMMIT}) if is_delayed else frozenset[str]()
        return strategy.needs() | self._writing(spec) | delaying

    def maintenance_needs(self) -> frozenset[str]:
        return Strategy("maintenance", self.maintenance).needs()

    def _writing(self, spec: StrategySpec) -> frozenset[str]:
        if isinstance(self.workload, History):
            return frozenset()
        mode = spec.upsert_mode if self.workload.is_cdc else None
        return FORMATS[self.table.format].writer.needs(self.table, mode)
