"""One run in its worker process: engine, warm-up, replay, content check, and the records of it all."""

import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pydantic import JsonValue

from bench import provenance
from bench.collector import Collector, utc_now
from bench.engines.base import Batch, CatalogSettings, Engine, EngineSettings, SparkSettings, TableSpec
from bench.engines.registry import ENGINES
from bench.engines.spark import DEFAULT_CONF
from bench.errors import EngineError
from bench.jobs import RunJob
from bench.loop import Clockwork, Loop
from bench.policy import Policy
from bench.results import EVENTS, MANIFEST, Manifest, PhaseRecord, RunRecord, TruthRecord
from bench.scenario import Scenario
from bench.scenario_strategies import StrategySpec
from bench.truth import check_content
from bench.warm_up import warm_up
from strategies.state import TableState
from workloads.change_log import ChangeLog, open_change_log


def carry_out(job: RunJob, scenario: Scenario) -> None:
    """Carry out one run; what became of it is its last record, and the exit code is 1 if it failed."""
    log = open_change_log(job.log_folder)
    settings = engine_settings(scenario, job.strategy, job.work_folder)
    (job.run_folder / MANIFEST).write_text(_manifest(job, scenario, settings, log).model_dump_json(indent=1))
    with Collector(job.run_folder / EVENTS) as collector:
        run = Run(job, scenario, settings, log, collector)
        try:
            run.carry_out()
        except Exception as error:  # whatever it is, this run failed, and the suite goes on with the next
            traceback.print_exc()
            run.finish("failed", f"{type(error).__name__}: {error}")
            sys.exit(1)


def engine_settings(scenario: Scenario, label: str, work_folder: Path) -> EngineSettings:
    """What the engine of one strategy's run is opened with."""
    spec = _spec(scenario, label)
    return EngineSettings(
        folder=work_folder,
        table=TableSpec(
            target_file_size_bytes=scenario.table.target_file_size_bytes,
            partitioning=scenario.table.partitioning,
            format_version=scenario.table.format_version,
            properties={**scenario.table.properties, **spec.properties},
            files_per_commit=spec.writer_files_per_commit,
        ),
        spark=SparkSettings(
            scenario.spark.master, scenario.spark.driver_memory_bytes, scenario.spark.settings
        ),
        catalog=_catalog(scenario),
    )


def _spec(scenario: Scenario, label: str) -> StrategySpec:
    return next(spec for spec in scenario.strategies if spec.label == label)


def _catalog(scenario: Scenario) -> CatalogSettings:
    given = scenario.catalog
    return CatalogSettings(given.name, given.namespace, given.properties) if given else CatalogSettings()


def _manifest(job: RunJob, scenario: Scenario, settings: EngineSettings, log: ChangeLog) -> Manifest:
    spec = _spec(scenario, job.strategy)
    return Manifest(
        run_id=job.run_id,
        suite_id=job.suite_id,
        started_utc=utc_now(),
        scenario=scenario.name,
        scenario_hash=scenario.hash,
        description=scenario.description,
        command=job.command,
        workload=scenario.workload_name,
        format=scenario.table.format,
        mode="real",
        strategy=spec.label,
        strategy_hash=spec.hash,
        strategy_summary=spec.summary,
        repetition=job.repetition,
        position=job.position,
        seed=scenario.seed,
        duration_s=scenario.duration_s,
        commit_interval_s=scenario.commit_interval_s,
        target_file_size_bytes=scenario.table.target_file_size_bytes,
        primary_probe=scenario.primary_probe.name,
        probe_every_s=scenario.probe_every_s,
        memory_bytes=settings.spark.driver_memory_bytes,
        price_per_gb_hour=scenario.prices.gb_hour,
        currency=scenario.prices.currency,
        request_price_s=scenario.prices.request_s,
        change_log_hash=f"{log.content_hash:x}",
        verify=job.verify,
        versions=provenance.versions(scenario.table.format),
        machine=provenance.machine(),
        git=provenance.source(),
        options=_options(settings),
        notes=provenance.NOTES,
        scenario_text=dict(scenario.resolved),
    )


def _options(settings: EngineSettings) -> dict[str, JsonValue]:
    """What was in force beyond the format's own defaults."""
    table = settings.table
    return {
        "spark.master": settings.spark.master,
        "spark": {**DEFAULT_CONF, **settings.spark.conf},
        "table_properties": dict(table.properties),
        "target_file_size_bytes": table.target_file_size_bytes,
        "format_version": table.format_version,
        "files_per_commit": table.files_per_commit,
        "catalog": settings.catalog.name if settings.catalog.properties else "own, on SQLite",
    }


class Run:
    """One run from engine start to content check, each step a record."""

    def __init__(
        self, job: RunJob, scenario: Scenario, settings: EngineSettings, log: ChangeLog, collector: Collector
    ) -> None:
        self._job, self._scenario, self._settings = job, scenario, settings
        self._log, self._collector = log, collector
        self._clockwork = Clockwork()
        self._histogram: list[tuple[int, int]] = []

    def carry_out(self) -> None:
        """Warm up, replay, check, clear away. Raises whatever made it fail."""
        kind = ENGINES[self._scenario.table.format, "real"]
        with ExitStack() as stack:
            with self._phase("start_engine"):
                engine = stack.enter_context(kind.open(self._settings))
            with self._phase("warm_up"):
                warm_up(self._scenario, engine, tuple(self._batches()))
            engine.create()
            if not self._job.keep_tables:
                stack.callback(engine.drop)
            loop = Loop(
                self._scenario, self._policy(), engine, self._collector, self._after_compaction(engine)
            )
            self._clockwork = loop.run(self._batches())
            self._histogram = file_size_histogram(engine.state(self._scenario.duration_s))
            if self._job.verify != "off":
                self._check(engine, self._scenario.commits_count)
        self.finish("finished")

    def finish(self, status: str, error: str | None = None) -> None:
        """Write the closing record."""
        self._collector.write(
            RunRecord,
            tick=self._scenario.commits_count,
            at_s=self._scenario.duration_s,
            status=status,
            error=error,
            loop_s=self._clockwork.loop_s,
            measured_s=self._clockwork.measured_s,
            observe_s=self._clockwork.observe_s,
            own_s=self._clockwork.own_s,
            perturbed=self._job.verify == "each",
            file_sizes=self._histogram,
        )

    def _policy(self) -> Policy:
        strategies = {spec.label: spec.strategy for spec in self._scenario.strategies}
        return Policy(self._job.strategy, strategies, _spec(self._scenario, self._job.strategy).switches)

    def _batches(self) -> Iterator[Batch]:
        """The commits' shapes beside what the log holds of them."""
        scenario = self._scenario
        shape = scenario.workload.shape(
            scenario.seed, scenario.commits_count, scenario.commit_interval_s, scenario.table.partitioning
        )
        for spec, logged in zip(shape, self._log.commits, strict=True):
            yield Batch(spec, self._log.paths(logged), logged.size_bytes)

    def _after_compaction(self, engine: Engine) -> Callable[[int], None] | None:
        if self._job.verify != "each":
            return None
        return lambda tick: self._check(engine, tick)

    def _check(self, engine: Engine, tick: int) -> None:
        """Compare the content with the log up to `tick`. Raises EngineError when it differs."""
        commits = [commit for commit in self._log.commits if commit.index <= tick]
        truth = check_content(engine, self._log, commits, self._settings.folder)
        self._collector.write(
            TruthRecord,
            tick=tick,
            at_s=tick * self._scenario.commit_interval_s,
            status="equal" if truth.equal else "differs",
            expected_rows=truth.expected_rows,
            found_rows=truth.found_rows,
            expected_hash=f"{truth.expected_hash:x}",
            found_hash=f"{truth.found_hash:x}",
            differences=list(truth.differences),
        )
        if not truth.equal:
            raise EngineError(f"content after commit {tick} differs: {'; '.join(truth.differences)}")

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        started_s = time.perf_counter()
        yield
        self._collector.write(
            PhaseRecord,
            tick=0,
            at_s=0.0,
            name=name,
            wall_s=time.perf_counter() - started_s,
        )


def file_size_histogram(state: TableState) -> list[tuple[int, int]]:
    """Live data files by size: (lower bound in bytes, a power of 2; count), ascending."""
    bounds = Counter(1 << (max(1, file.size_bytes).bit_length() - 1) for file in state.data_files)
    return sorted(bounds.items())
