"""One run: the stream, replayed.

A tick is commit -> control query and probes -> decide -> compact -> maintenance -> probes again: roles take
turns. Each step is timed in real seconds, while scenario time advances by one commit interval for the whole
tick. Probes run only at the ticks of the scenario's cadence, which is the same for all strategies.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping

from bench.engines.contract import Batch, Engine
from bench.engines.format import SizeModel
from bench.replay.active_strategy import ActiveStrategy
from bench.replay.clock import Clock
from bench.replay.history import NO_PRIORS, History
from bench.replay.looks import looks_ms
from bench.replay.recorder import Recorder
from bench.replay.roles.compactor import Compactions, compactor
from bench.replay.roles.maintainer import maintainer
from bench.replay.roles.reader import Queries, reader
from bench.replay.roles.writer import writer
from bench.replay.schedule import take_turns
from bench.replay.shared_cores import SharedCores
from bench.replay.step_log import ReplayTimes, StepLog
from bench.results.values import Cost
from bench.scenario.roles import COMPACTOR
from bench.scenario.scenario import Scenario
from strategies.state import CostPriors


def replay(
    scenario: Scenario,
    strategy: ActiveStrategy,
    engine: Engine,
    batches: Iterable[Batch],
    recorder: Recorder,
    clock: Clock,
    *,
    after_compaction: Callable[[int], None] | None = None,
    size_model: SizeModel | None = None,
    fixed_work: Callable[[], Cost] | None = None,
    drop_page_cache: Callable[[], None] | None = None,
    repetition: int = 1,
    cost_priors: Mapping[str, CostPriors] = NO_PRIORS,
) -> ReplayTimes:
    """Replay the batches into one table under one strategy, and record every step.

    `after_compaction` is called after each compaction with the number of commits so far. With a `size_model`,
    compactions are recorded with a forecast. `fixed_work` shows the speed of the machine at each tick of the
    cadence, and `drop_page_cache` is called before each query. `cost_priors` are by executor, for planners.
    Errors of steps are passed on.
    """
    log = StepLog(engine.table_id, recorder, clock, _cores(scenario), speed=scenario.speed)
    history, cadence = History(cost_priors), scenario.cadence(repetition)
    queries = Queries(scenario, cadence, engine, history, log, fixed_work, drop_page_cache)
    compactions = Compactions(
        scenario, strategy, engine, queries, history, log, after_compaction, size_model,
        _looks(scenario, repetition),
    )  # fmt: skip
    take_turns([
        writer(batches, engine, compactions, scenario.roles.writer, history, log),
        reader(scenario, queries),
        compactor(scenario, compactions),
        maintainer(scenario, engine, queries, log),
    ])  # fmt: skip
    return log.times


def _looks(scenario: Scenario, repetition: int) -> list[int]:
    """By tick, when the compactor looks at the table with a real clock; empty in turns."""
    moments_ms = looks_ms(scenario, COMPACTOR, repetition) if scenario.has_real_clock else ()
    return [*itertools.islice(moments_ms, scenario.commits_count + 1)]


def _cores(scenario: Scenario) -> SharedCores | None:
    if not scenario.has_real_clock:
        return None
    return SharedCores(scenario.resources.shared_cores or math.inf)
