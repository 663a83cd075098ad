"""One run: engine start, warm-up, replay and content check, and the records of each.

A real run has a worker process of its own; a simulated run is executed in the calling process.
"""

import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Literal

from bench.engines.contract import Batch, Engine, EngineSettings
from bench.engines.format import SizeModel
from bench.engines.master import parse_master
from bench.engines.registry import FORMATS, engine_kind
from bench.errors import EngineError
from bench.replay.active_strategy import ActiveStrategy
from bench.replay.clock import ModelledClock, SystemClock
from bench.replay.fixed_work import fixed_work
from bench.replay.page_cache import drop_page_cache
from bench.replay.recorder import OnRecord, Recorder, recorder_of, without_secrets
from bench.replay.replay import replay
from bench.replay.step_log import ReplayTimes
from bench.results.records import LOG, MANIFEST, ContentRecord, Manifest, PhaseRecord, RunRecord
from bench.results.values import BeyondFit, Cost
from bench.runs.jobs import RunJob
from bench.runs.settings import cost_priors, engine_settings, strategy_of
from bench.runs.worker.content_check import ContentCheck, check_content
from bench.runs.worker.manifest import manifest_of
from bench.runs.worker.neighbours import Neighbours
from bench.runs.worker.warm_up import warm_up
from bench.scenario.kept_back import kept_back, last_committed
from bench.scenario.scenario import Scenario
from bench.secrets import Secrets
from strategies.plan import PlanError
from strategies.series import runs_of
from strategies.state import CostPriors, TableState
from workloads.change_log import ChangeLog, open_change_log

_ERROR_LENGTH_MAX = 10_000  # characters that are stored and printed
CONTROL_COMMITS = 2  # a few files; where the stream deletes rows, the second deletes some of the first


def execute(
    job: RunJob,
    scenario: Scenario,
    on_record: OnRecord = lambda kind, fields: None,
    verdict: Callable[[], str | None] = lambda: None,
    manner: "type[Run] | None" = None,
) -> bool:
    """Execute one run and return whether it finished. Its last record has the outcome.

    It is executed in this process unless `manner` does otherwise. Each record is also passed to `on_record`.
    `verdict` returns why the watchdog has ended the JVM, if it has; the run then fails with that text, not
    with its own error. The traceback of an error is written to the run's log. A run that fails before its
    manifest is written leaves nothing else.
    """
    try:
        log = open_change_log(job.log_folder) if job.log_folder else None
        settings = engine_settings(
            scenario, job.strategy, job.work_folder, job.coefficients, run_folder=job.run_folder
        )
        manifest = without_secrets(manifest_of(job, scenario, settings, log), scenario.secrets)
        _store_manifest(job.run_folder, manifest)
    except Exception:
        _log_traceback(job, scenario)
        return False
    with (
        suppress(OSError),
        recorder_of(job.mode, job.run_folder, job.run_id, on_record, scenario.secrets) as recorder,
    ):
        run = (manner or Run)(job, scenario, settings, log, recorder)
        try:
            run.execute()
        except (Exception, SystemExit) as error:  # any error fails this run only, and the suite continues
            _log_traceback(job, scenario)
            run.finish("failed", verdict() or _in_words(error, scenario.secrets))
            return False
        return True
    return False  # the disk is full: who started the run closes it


def _log_traceback(job: RunJob, scenario: Scenario) -> None:
    """Append the traceback of the current exception to the run's log, unless the disk is full."""
    text = scenario.secrets.scrub(traceback.format_exc())
    with suppress(OSError), (job.run_folder / LOG).open("ab") as file:
        file.write(text.encode(errors="backslashreplace"))


def _store_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the whole manifest or nothing: half a manifest would make the results folder unreadable."""
    part = folder / f"{MANIFEST}.part"
    try:
        part.write_text(manifest.model_dump_json(indent=1), encoding="utf-8")
        part.replace(folder / MANIFEST)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def _in_words(error: BaseException, secrets: Secrets) -> str:
    notes = getattr(error, "__notes__", [])
    place = f" ({'; '.join(notes)})" if notes else ""
    if isinstance(error, PlanError):
        words = f"{error}{place}; correct the planner"
    else:
        words = f"{type(error).__name__}: {error}{place}"
    words = secrets.scrub(words)  # before the cut: half a secret is not found
    if len(words) > _ERROR_LENGTH_MAX:
        words = f"{words[:_ERROR_LENGTH_MAX]}... (the rest is in {LOG})"
    return words.encode(errors="backslashreplace").decode()  # a lone surrogate is no UTF-8


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
        self._spec = strategy_of(scenario, job.strategy)
        self._kind = engine_kind(scenario.table.format, job.mode)
        self._times = ReplayTimes()
        self._other_cores: float | None = None
        self._histogram: list[tuple[int, int]] = []
        self._content_bytes: int | None = None
        self._executors_memory_bytes: int | None = None
        self._beyond_fit = BeyondFit()

    def execute(self) -> None:
        """Warm up, replay, check the content and drop the table. Raises the error that made it fail.

        After the content check the run has all its figures. If its table cannot be dropped then, the run has
        finished nevertheless: the error goes to the log, and notes of a shared catalog stay for `clean`.
        """
        failure: Exception | None = None
        try:
            with ExitStack() as stack:
                try:
                    self._execute(stack)
                except Exception as error:
                    failure = error
                    raise
        except Exception:
            if failure is not None:  # not an error of the clean-up, such as a JVM that is gone
                raise failure from failure.__cause__
            _log_traceback(self._job, self._scenario)
        self.finish("finished")

    def _execute(self, stack: ExitStack) -> None:
        """Leaves dropping the tables and ending Spark to `stack`."""
        if self._kind.is_measured:
            engine = self._warm_engine(stack)
        else:
            engine = stack.enter_context(self._kind.open(self._settings))
        engine.create()
        if not self._job.keep_tables:
            stack.callback(engine.drop)
        stack.callback(engine.drop_control)
        engine.make_control(self._scenario.primary_probe, tuple(self._control_batches()))
        self._times = self._replayed(engine)
        self._histogram = file_size_histogram(engine.state(self._scenario.duration_ms))
        self._executors_memory_bytes = self._kind.executors_memory_bytes(engine)
        self._beyond_fit = self._kind.beyond_fit(engine)
        if self._kind.content_bytes is not None:
            self._content_bytes = self._kind.content_bytes(engine)
        if self._job.verify != "off":
            self._check(engine, self._scenario.commits_count)

    def _replayed(self, engine: Engine) -> ReplayTimes:
        """Replay the whole stream; returns how its real seconds were spent, also if its clock is modelled."""
        stopwatch, neighbours = SystemClock(), Neighbours(parse_master(self._scenario.spark.master))
        times = replay(
            self._scenario,
            ActiveStrategy(self._spec.strategy),
            engine,
            self._batches(),
            self._recorder,
            ModelledClock() if self._job.mode == "simulated" else SystemClock(),
            after_compaction=self._after_compaction(engine),
            size_model=self._size_model(),
            fixed_work=fixed_work if self._kind.is_measured else None,
            drop_page_cache=self._drop_page_cache(),
            repetition=self._job.repetition,
            cost_priors=self._cost_priors,
        )
        loop_s = stopwatch.now_s()
        self._other_cores = neighbours.cores()
        return replace(times, loop_s=loop_s)

    def _drop_page_cache(self) -> Callable[[], None] | None:
        if self._kind.is_measured and self._scenario.page_cache == "cold":
            return partial(drop_page_cache, self._settings.folder)
        return None

    def _batches(self) -> Iterator[Batch]:
        return kept_back(batches_of(self._scenario, self._log), self._spec.writer.commit_every_ms)

    def _warm_engine(self, stack: ExitStack) -> Engine:
        """An engine after the warm-up."""
        with self._phase("start_engine"):
            engine = stack.enter_context(self._kind.open(self._settings))
        with self._phase("warm_up"):
            batches = tuple(batches_of(self._scenario, self._log))
            warm_up(
                self._scenario,
                engine,
                batches,
                self._settings.folder,
                self._recorder.write,
                self._cost_priors,
            )
        return engine

    def _size_model(self) -> SizeModel | None:
        """None for a simulated engine, which uses the same model."""
        if not self._kind.is_measured:
            return None
        return FORMATS[self._scenario.table.format].engines.size_model(self._settings.table.schema)

    @cached_property
    def _cost_priors(self) -> Mapping[str, CostPriors]:
        return cost_priors(self._scenario.table.format, self._settings)

    def finish(self, status: Literal["finished", "failed"], error: str | None = None) -> None:
        """Write the closing record."""
        times = self._times
        if not self._kind.is_measured:
            times = ReplayTimes(loop_s=times.loop_s)
        self._recorder.write(
            RunRecord,
            {
                "tick": self._scenario.commits_count,
                "at_ms": self._scenario.duration_ms,
                "status": status,
                "error": error,
                "records_count": self._recorder.records_count,
                "loop_s": times.loop_s,
                "measured_s": times.measured_s,
                "observe_s": times.observe_s,
                "own_s": times.own_s,
                "other_cores": self._other_cores if self._kind.is_measured else None,
                "timings_invalid": self._job.verify == "each",
                "file_sizes": self._histogram,
                "content_bytes": self._content_bytes,
                "executors_memory_bytes": self._executors_memory_bytes,
                "beyond_fit": self._beyond_fit,
            },
        )

    def _control_batches(self) -> Iterator[Batch]:
        """The commits of the table that the control query reads: the stream's first ones with rows."""
        batches = batches_of(self._scenario, self._log)
        stream = (batch for batch in batches if not batch.spec.is_initial and batch.spec.rows)
        return islice(stream, CONTROL_COMMITS)

    def _after_compaction(self, engine: Engine) -> Callable[[int], None] | None:
        if self._job.verify != "each":
            return None
        return lambda tick: self._check(engine, tick)

    def _check(self, engine: Engine, tick: int) -> None:
        """Compare the content with the commits up to `tick`. Raises EngineError if it differs."""
        tick = last_committed(tick, self._scenario.commit_interval_ms, self._spec.writer.commit_every_ms)
        if self._log is not None:
            self._check_content(engine, self._log, tick)
        elif self._kind.wrong_rows is not None:
            specs = (spec for spec in self._scenario.shape() if spec.index <= tick)
            problem = self._kind.wrong_rows(engine, specs, self._scenario.workload.is_cdc)
            if problem:
                raise EngineError(f"after commit {tick} {problem}", code="content-differs")

    def _check_content(self, engine: Engine, log: ChangeLog, tick: int) -> None:
        check = recorded_check(engine, log, tick, self._scenario, self._settings.folder, self._recorder)
        self._content_bytes = check.content_bytes
        check_equal(check, tick)

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        clock = SystemClock()
        yield
        cost = Cost(wall_s=clock.now_s())
        self._recorder.write(PhaseRecord, {"tick": 0, "at_ms": 0, "name": name, "cost": cost})


def check_equal(check: ContentCheck, tick: int) -> None:
    """Raises EngineError for a table that differs from the stream up to a commit."""
    if not check.equal:
        raise EngineError(
            f"after commit {tick} the table differs from the stream: {'; '.join(check.differences)}",
            code="content-differs",
        )


def recorded_check(
    engine: Engine, log: ChangeLog, tick: int, scenario: Scenario, folder: Path, recorder: Recorder
) -> ContentCheck:
    """Compare a table with the commits up to `tick`, by files below `folder`, and record the outcome."""
    commits = [commit for commit in log.commits if commit.index <= tick]
    check = check_content(engine, log, commits, folder)
    recorder.write(
        ContentRecord,
        {
            "tick": tick,
            "at_ms": tick * scenario.commit_interval_ms,
            "status": "equal" if check.equal else "differs",
            "expected_rows": check.expected_rows,
            "found_rows": check.found_rows,
            "expected_hash": f"{check.expected_hash:x}",
            "found_hash": f"{check.found_hash:x}",
            "differences": list(check.differences),
        },
    )
    return check


def batches_of(scenario: Scenario, log: ChangeLog | None) -> Iterator[Batch]:
    """Each commit's shape, with its files if there is a change log."""
    if log is None:
        yield from (Batch(spec, (), spec.expected_bytes) for spec in scenario.shape())
        return
    for spec, logged in zip(scenario.shape(), log.commits, strict=True):
        yield Batch(spec, log.paths(logged), logged.size_bytes, log.holds_changes(logged))


def file_size_histogram(state: TableState) -> list[tuple[int, int]]:
    """Live data files by size: (lower bound in bytes, which is a power of 2; count), ascending."""
    counts = Counter[int]()
    for run in runs_of(state.data_files):
        counts[1 << (max(1, run.first.size_bytes).bit_length() - 1)] += run.count
    return sorted(counts.items())
