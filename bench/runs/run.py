"""One run: engine, warm-up, replay, content check, and the records of it all.

A real run has a worker process of its own; a simulated one is carried out where it is asked for.
"""

import hashlib
import re
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

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
from bench.engines.format import EngineKind, SizeModel
from bench.engines.registry import FORMATS, engine_kind
from bench.errors import EngineError
from bench.replay.active_strategy import ActiveStrategy
from bench.replay.clock import ModelledClock, SystemClock
from bench.replay.loop import Loop, ReplayTimes
from bench.replay.recorder import Recorder, utc_now, without_secrets
from bench.results.records import EVENTS, LOG, MANIFEST, ContentRecord, Manifest, PhaseRecord, RunRecord
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
    """Carry out one run and tell whether it finished; what became of it is its last record.

    Each record is also given to `on_record`. What went wrong is written to the run's log.
    """
    log = open_change_log(job.log_folder) if job.log_folder else None
    settings = engine_settings(scenario, job.strategy, job.work_folder, job.coefficients)
    manifest = without_secrets(_manifest(job, scenario, settings, log), scenario.secrets)
    (job.run_folder / MANIFEST).write_text(manifest.model_dump_json(indent=1))
    with Recorder(job.run_folder / EVENTS, on_record, scenario.secrets) as recorder:
        run = Run(job, scenario, settings, log, recorder)
        try:
            run.execute()
        except Exception as error:  # whatever it is, this run failed, and the suite goes on with the next
            with (job.run_folder / LOG).open("a") as file:
                file.write(scenario.secrets.scrub(traceback.format_exc()))
            run.finish("failed", f"{type(error).__name__}: {error}")
            return False
    return True


def engine_settings(
    scenario: Scenario, label: str, work_folder: Path, coefficients: Path | None = None
) -> EngineSettings:
    """What the engine of one strategy's run is opened with."""
    spec = _spec(scenario, label)
    return EngineSettings(
        folder=work_folder,
        cores=_cores(scenario),
        coefficients=coefficients,
        table=TableSpec(
            target_file_size_bytes=scenario.table.target_file_size_bytes,
            partitioning=scenario.table.partitioning,
            keys=scenario.table.keys,
            properties={**scenario.table.properties, **spec.properties},
            files_per_commit=spec.writer.files_per_commit,
            upsert_mode=spec.upsert_mode,
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
    given = scenario.catalog
    return CatalogSettings(given.name, given.namespace, given.properties) if given else CatalogSettings()


def _cores(scenario: Scenario) -> Cores:
    """The scenario's shares, where it has none the cores of the Spark master if that names them."""
    local = re.fullmatch(r"local\[(\d+)\]", scenario.spark.master)
    cores = int(local[1]) if local else Cores().compactor
    shares = scenario.resources
    return Cores(shares.writer.cores or cores, shares.compactor.cores or cores, shares.reader.cores or cores)


def _memory_bytes(scenario: Scenario) -> int:
    return scenario.resources.compactor.memory_bytes or scenario.spark.driver_memory_bytes


def _manifest(job: RunJob, scenario: Scenario, settings: EngineSettings, log: ChangeLog | None) -> Manifest:
    spec, kind = _spec(scenario, job.strategy), engine_kind(scenario.table.format, job.mode)
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
        versions=provenance.versions(FORMATS[scenario.table.format], job.mode),
        machine=provenance.machine(),
        git=provenance.source(),
        options=_options(scenario, settings, kind),
        notes=provenance.notes(job.mode, scenario.workload),
        scenario_text=dict(scenario.resolved),
        dataset=provenance.dataset(scenario, spec),
        option_defaults=option_defaults(scenario.strategies),
    )


def _options(scenario: Scenario, settings: EngineSettings, kind: EngineKind) -> dict[str, JsonValue]:
    """What was in force beyond the format's own defaults."""
    table = settings.table
    return {
        "table_properties": dict(table.properties),
        "target_file_size_bytes": table.target_file_size_bytes,
        **scenario.table.keys.own(),
        "files_per_commit": table.files_per_commit,
        **({"upsert_mode": table.upsert_mode} if scenario.workload.is_cdc else {}),
        **kind.options(settings),
    }


def _shape_hash(scenario: Scenario) -> str:
    """What stands for the hash of a change log where there is none: that of the commits' shapes."""
    digest = hashlib.sha256()
    for spec in scenario.shape():
        digest.update(repr(spec).encode())
    return digest.hexdigest()[:16]


class Run:
    """One run from engine start to content check, each step a record."""

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
        self._kind = engine_kind(scenario.table.format, job.mode)
        self._times = ReplayTimes()
        self._histogram: list[tuple[int, int]] = []

    def execute(self) -> None:
        """Warm up, replay, check, clear away. Raises whatever made it fail."""
        with ExitStack() as stack:
            if self._kind.is_measured:
                engine = self._warm_engine(stack)
            else:
                engine = stack.enter_context(self._kind.open(self._settings))
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
        """Replay the whole stream; where its real seconds went, whatever clock the records are by."""
        stopwatch = SystemClock()
        loop.run(self._batches())
        return replace(loop.times, loop_s=stopwatch.now_s())

    def _warm_engine(self, stack: ExitStack) -> Engine:
        """An engine that has done everything of the scenario before; how long that took is recorded."""
        with self._phase("start_engine"):
            engine = stack.enter_context(self._kind.open(self._settings))
        with self._phase("warm_up"):
            warm_up(self._scenario, engine, tuple(self._batches()))
        return engine

    def _size_model(self) -> SizeModel | None:
        """A forecast of what a simulated engine does would be compared with itself."""
        if not self._kind.is_measured:
            return None
        return FORMATS[self._scenario.table.format].size_model(self._settings.table.schema)

    def finish(self, status: str, error: str | None = None) -> None:
        """Write the closing record."""
        times = self._times
        if not self._kind.is_measured:
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
        """The commits' shapes beside what the log holds of them; without a log the shapes alone."""
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
        """Compare the content with the stream up to `tick`. Raises EngineError when it differs."""
        if self._log is not None:
            self._check_content(engine, self._log, tick)
        elif self._kind.wrong_rows is not None:
            specs = (spec for spec in self._scenario.shape() if spec.index <= tick)
            problem = self._kind.wrong_rows(engine, specs, self._scenario.workload.is_cdc)
            if problem:
                raise EngineError(f"after commit {tick} {problem}")

    def _check_content(self, engine: Engine, log: ChangeLog, tick: int) -> None:
        commits = [commit for commit in log.commits if commit.index <= tick]
        found = check_content(engine, log, commits, self._settings.folder)
        self._recorder.write(
            ContentRecord(
                tick=tick,
                at_ms=tick * self._scenario.commit_interval_ms,
                written_utc=utc_now(),
                status="equal" if found.equal else "differs",
                expected_rows=found.expected_rows,
                found_rows=found.found_rows,
                expected_hash=f"{found.expected_hash:x}",
                found_hash=f"{found.found_hash:x}",
                differences=list(found.differences),
            )
        )
        if not found.equal:
            raise EngineError(f"content after commit {tick} differs: {'; '.join(found.differences)}")

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
