"""One run: engine start, warm-up, replay and content check, and the records of each.

A real run has a worker process of its own; a simulated run is executed in the calling process.
"""

import hashlib
import re
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, JsonValue

from bench.engines.contract import (
    Batch,
    CatalogSettings,
    Cores,
    Engine,
    EngineSettings,
    SparkSettings,
    TableSpec,
)
from bench.engines.iceberg.model.coefficients import iceberg_coefficients
from bench.engines.iceberg.model.files import table_bytes
from bench.engines.registry import ENGINES, EngineKind
from bench.engines.simulated.engine import SimulatedEngine
from bench.engines.simulated.live_rows import expected_live_rows
from bench.errors import EngineError
from bench.replay.active_strategy import ActiveStrategy
from bench.replay.clock import ModelledClock, SystemClock
from bench.replay.forecast import SizeModel
from bench.replay.loop import Loop, ReplayTimes
from bench.replay.recorder import Recorder, utc_now, without_secrets
from bench.results.records import EVENTS, LOG, MANIFEST, ContentRecord, Manifest, Mode, PhaseRecord, RunRecord
from bench.runs import provenance
from bench.runs.content_check import check_content
from bench.runs.jobs import RunJob
from bench.runs.warm_up import warm_up
from bench.scenario.scenario import Scenario
from bench.scenario.specs import StrategySpec, option_defaults
from strategies.state import TableState
from workloads.change_log import ChangeLog, open_change_log


def execute(
    job: RunJob, scenario: Scenario, on_record: Callable[[BaseModel], None] = lambda record: None
) -> bool:
    """Execute one run and return whether it finished. Its last record has the outcome.

    Each record is also passed to `on_record`. The traceback of an error is written to the run's log.
    """
    log = open_change_log(job.log_folder) if job.log_folder else None
    settings = engine_settings(scenario, job.strategy, job.work_folder, job.coefficients)
    manifest = without_secrets(_manifest(job, scenario, settings, log), scenario.secrets)
    (job.run_folder / MANIFEST).write_text(manifest.model_dump_json(indent=1))
    with Recorder(job.run_folder / EVENTS, on_record, scenario.secrets) as recorder:
        run = Run(job, scenario, settings, log, recorder)
        try:
            run.execute()
        except Exception as error:  # any error fails this run only, and the suite continues
            with (job.run_folder / LOG).open("a") as file:
                file.write(scenario.secrets.scrub(traceback.format_exc()))
            run.finish("failed", f"{type(error).__name__}: {error}")
            return False
    return True


def engine_settings(
    scenario: Scenario, label: str, work_folder: Path, coefficients: Path | None = None
) -> EngineSettings:
    """The settings of the engine for a run of one strategy."""
    spec = _spec(scenario, label)
    return EngineSettings(
        folder=work_folder,
        cores=_cores(scenario),
        coefficients=coefficients,
        table=TableSpec(
            target_file_size_bytes=scenario.table.target_file_size_bytes,
            partitioning=scenario.table.partitioning,
            format_version=scenario.table.format_version,
            properties={**scenario.table.properties, **spec.properties},
            files_per_commit=spec.writer.files_per_commit,
            upsert_mode=spec.writer.upsert_mode,
            schema=scenario.workload.schema,
        ),
        spark=SparkSettings(
            scenario.spark.master, scenario.spark.driver_memory_bytes, scenario.spark.settings
        ),
        catalog=_catalog(scenario),
    )


def _spec(scenario: Scenario, label: str) -> StrategySpec:
    return next(spec for spec in scenario.strategies if spec.label == label)


def _catalog(scenario: Scenario) -> CatalogSettings:
    spec = scenario.catalog
    return CatalogSettings(spec.name, spec.namespace, spec.properties) if spec else CatalogSettings()


def _cores(scenario: Scenario) -> Cores:
    """The cores of the scenario's resources, or else of its Spark master if that names a number."""
    local = re.fullmatch(r"local\[(\d+)\]", scenario.spark.master)
    cores = int(local[1]) if local else Cores().compactor
    shares = scenario.resources
    return Cores(shares.writer.cores or cores, shares.compactor.cores or cores, shares.reader.cores or cores)


def _memory_bytes(scenario: Scenario) -> int:
    return scenario.resources.compactor.memory_bytes or scenario.spark.driver_memory_bytes


def _manifest(job: RunJob, scenario: Scenario, settings: EngineSettings, log: ChangeLog | None) -> Manifest:
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
        mode=job.mode,
        strategy=spec.label,
        strategy_hash=spec.hash,
        strategy_summary=spec.summary,
        repetition=job.repetition,
        position=job.position,
        seed=scenario.seed,
        duration_ms=scenario.duration_ms,
        commit_interval_ms=scenario.commit_interval_ms,
        target_file_size_bytes=scenario.table.target_file_size_bytes,
        primary_probe=scenario.primary_probe.name,
        probe_every_ms=scenario.probe_every_ms,
        memory_bytes=_memory_bytes(scenario),
        price_per_gb_hour=scenario.prices.gb_hour,
        currency=scenario.prices.currency,
        request_price_s=scenario.prices.request_s,
        change_log_hash=f"{log.content_hash:x}" if log else _shape_hash(scenario),
        verify=job.verify,
        versions=provenance.versions(scenario.table.format, job.mode),
        machine=provenance.machine(),
        git=provenance.source(),
        options=_options(scenario, settings, job.mode),
        notes=provenance.notes(job.mode, scenario.workload),
        scenario_text=dict(scenario.resolved),
        dataset=provenance.dataset(scenario, spec),
        option_defaults=option_defaults(scenario.strategies),
    )


def _options(scenario: Scenario, settings: EngineSettings, mode: Mode) -> dict[str, JsonValue]:
    """The settings in force beyond the format's own defaults."""
    table = settings.table
    return {
        "table_properties": dict(table.properties),
        "target_file_size_bytes": table.target_file_size_bytes,
        "format_version": table.format_version,
        "files_per_commit": table.files_per_commit,
        **({"upsert_mode": table.upsert_mode} if scenario.workload.is_cdc else {}),
        **(_spark_options(scenario, settings) if mode == "real" else _simulated_options(scenario, settings)),
    }


def _spark_options(scenario: Scenario, settings: EngineSettings) -> dict[str, JsonValue]:
    from bench.engines.spark.session import DEFAULT_CONF  # and with it PySpark, which simulation does without

    of_format = ENGINES[scenario.table.format, "real"].session_conf(settings)
    return {
        "spark.master": settings.spark.master,
        "spark": {**DEFAULT_CONF, **of_format, **settings.spark.conf},
        "catalog": settings.catalog.name if settings.catalog.properties else "own, on SQLite",
    }


def _simulated_options(scenario: Scenario, settings: EngineSettings) -> dict[str, JsonValue]:
    coefficients = iceberg_coefficients(settings.coefficients)
    cores: dict[str, JsonValue] = {**asdict(settings.cores)}
    return {"cores": cores, "coefficients": coefficients.model_dump(mode="json")}


def _shape_hash(scenario: Scenario) -> str:
    """The hash of the commits' shapes, which replaces that of the change log if there is none."""
    digest = hashlib.sha256()
    for spec in scenario.shape():
        digest.update(repr(spec).encode())
    return digest.hexdigest()[:16]


class Run:
    """One run from engine start to content check; every step writes a record."""

    def __init__(
        self,
        job: RunJob,
        scenario: Scenario,
        settings: EngineSettings,
        log: ChangeLog | None,
        recorder: Recorder,
    ) -> None:
        self._job, self._scenario, self._settings = job, scenario, settings
        self._log, self._recorder = log, recorder
        self._times = ReplayTimes()
        self._histogram: list[tuple[int, int]] = []

    def execute(self) -> None:
        """Warm up, replay, check the content and drop the table. Raises the error that made it fail."""
        kind = ENGINES[self._scenario.table.format, self._job.mode]
        with ExitStack() as stack:
            if self._job.mode == "simulated":
                engine = stack.enter_context(kind.open(self._settings))
            else:
                engine = self._warm_engine(stack, kind)
            engine.create()
            if not self._job.keep_tables:
                stack.callback(engine.drop)
            clock = ModelledClock() if self._job.mode == "simulated" else SystemClock()
            loop = Loop(
                self._scenario, self._strategy(), engine, self._recorder, clock,
                self._after_compaction(engine), self._size_model(),
            )  # fmt: skip
            self._times = self._replayed(loop)
            self._histogram = file_size_histogram(engine.state(self._scenario.duration_ms))
            if self._job.verify != "off":
                self._check(engine, self._scenario.commits_count)
        self.finish("finished")

    def _replayed(self, loop: Loop) -> ReplayTimes:
        """Replay the whole stream; returns where its real seconds went, whichever clock the records use."""
        stopwatch = SystemClock()
        loop.run(self._batches())
        return replace(loop.times, loop_s=stopwatch.now_s())

    def _warm_engine(self, stack: ExitStack, kind: EngineKind) -> Engine:
        """An engine that has already run everything in the scenario once; the time it took is recorded."""
        with self._phase("start_engine"):
            engine = stack.enter_context(kind.open(self._settings))
        with self._phase("warm_up"):
            warm_up(self._scenario, engine, tuple(self._batches()))
        return engine

    def _size_model(self) -> SizeModel | None:
        """None for a simulated engine, whose forecast would be compared with itself."""
        if self._job.mode == "simulated":
            return None
        coefficients = iceberg_coefficients()
        schema = self._settings.table.schema
        return lambda rows, files: table_bytes(schema, coefficients, rows, files)

    def finish(self, status: str, error: str | None = None) -> None:
        """Write the closing record."""
        times = self._times
        if self._job.mode == "simulated":  # which measures nothing
            times = ReplayTimes(loop_s=times.loop_s)
        self._recorder.write(
            RunRecord(
                tick=self._scenario.commits_count,
                at_ms=self._scenario.duration_ms,
                written_utc=utc_now(),
                status=status,
                error=error,
                loop_s=times.loop_s,
                measured_s=times.measured_s,
                observe_s=times.observe_s,
                own_s=times.own_s,
                timings_invalid=self._job.verify == "each",
                file_sizes=self._histogram,
            )
        )

    def _strategy(self) -> ActiveStrategy:
        strategies = {spec.label: spec.strategy for spec in self._scenario.strategies}
        switches = _spec(self._scenario, self._job.strategy).switches
        return ActiveStrategy(self._job.strategy, strategies, switches)

    def _batches(self) -> Iterator[Batch]:
        """The shape of each commit with its files in the change log; without a log, the shapes only."""
        if self._log is None:
            yield from (Batch(spec, (), spec.expected_bytes) for spec in self._scenario.shape())
            return
        for spec, logged in zip(self._scenario.shape(), self._log.commits, strict=True):
            yield Batch(spec, self._log.paths(logged), logged.size_bytes, self._log.holds_changes(logged))

    def _after_compaction(self, engine: Engine) -> Callable[[int], None] | None:
        if self._job.verify != "each":
            return None
        return lambda tick: self._check(engine, tick)

    def _check(self, engine: Engine, tick: int) -> None:
        """Compare the content with the stream up to `tick`. Raises EngineError if it differs."""
        if self._log is not None:
            self._check_content(engine, self._log, tick)
        elif isinstance(engine, SimulatedEngine):
            self._check_rows(engine, tick)

    def _check_content(self, engine: Engine, log: ChangeLog, tick: int) -> None:
        commits = [commit for commit in log.commits if commit.index <= tick]
        check = check_content(engine, log, commits, self._settings.folder)
        self._recorder.write(
            ContentRecord(
                tick=tick,
                at_ms=tick * self._scenario.commit_interval_ms,
                written_utc=utc_now(),
                status="equal" if check.equal else "differs",
                expected_rows=check.expected_rows,
                found_rows=check.found_rows,
                expected_hash=f"{check.expected_hash:x}",
                found_hash=f"{check.found_hash:x}",
                differences=list(check.differences),
            )
        )
        if not check.equal:
            raise EngineError(
                f"after commit {tick} the table differs from the stream: {'; '.join(check.differences)}"
            )

    def _check_rows(self, engine: SimulatedEngine[Any], tick: int) -> None:
        """All there is to check of a simulated table: as many rows live as the commits leave.

        Where commits update and delete that is an expectation, and a file may be off by a row. Where they
        only add, every row of a file lives.
        """
        state, is_cdc = engine.state(0), self._scenario.workload.is_cdc
        specs = (spec for spec in self._scenario.shape() if spec.index <= tick)
        expected = round(expected_live_rows(specs))
        found = engine.live_rows if is_cdc else sum(p.rows for p in state.partitions.values())
        if abs(found - expected) > (len(state.data_files) if is_cdc else 0):
            raise EngineError(f"after commit {tick} the simulated table has {found} rows, not {expected}")

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        clock = SystemClock()
        yield
        self._recorder.write(
            PhaseRecord(tick=0, at_ms=0, written_utc=utc_now(), name=name, wall_s=clock.now_s())
        )


def file_size_histogram(state: TableState) -> list[tuple[int, int]]:
    """Live data files by size: (lower bound in bytes, a power of 2; count), ascending."""
    bounds = Counter(1 << (max(1, file.size_bytes).bit_length() - 1) for file in state.data_files)
    return sorted(bounds.items())
