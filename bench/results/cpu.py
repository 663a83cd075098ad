"""CPU and memory figures of a policy: of its own steps, and of maintenance and commits.

A figure is None if the CPU of one of its steps is shared with another step.
"""

from collections.abc import Callable, Iterable, Sequence

from bench.results.arithmetic import all_known, ratio, total
from bench.results.figures import RunFigures
from bench.results.records import BaseRecord

Steps = Callable[[RunFigures], Sequence[BaseRecord]]


def compaction_cpu_s(f: RunFigures) -> float | None:
    return _own_cpu_s(f.compactions)


def compaction_executor_cpu_s(f: RunFigures) -> float | None:
    return _sum(*(None if c.cost.is_shared else c.cost.executor_cpu_s for c in f.compactions))


def commit_cpu_s(f: RunFigures) -> float | None:
    return _own_cpu_s(f.commits)


def maintenance_cpu_s(f: RunFigures) -> float | None:
    return _own_cpu_s(f.maintenance)


def evaluation_cpu_s(f: RunFigures) -> float | None:
    """CPU of decisions and of reading the state for them; None in simulations, which do not model it."""
    if f.is_simulated or any(c.cost.is_shared for c in f.compactions):
        return None
    return total(d.cost.cpu_s + d.state_cpu_s for d in f.decisions)


def policy_cpu_s(f: RunFigures) -> float | None:
    return _sum(compaction_cpu_s(f), maintenance_cpu_s(f), evaluation_cpu_s(f) or 0.0)


def total_cpu_s(f: RunFigures) -> float | None:
    return _sum(commit_cpu_s(f), policy_cpu_s(f))


def jit_share(f: RunFigures) -> float | None:
    jit_cpu_s, cpu_s = known_total("compaction", "jit_cpu_s")(f), compaction_cpu_s(f)
    return None if jit_cpu_s is None or cpu_s is None else ratio(jit_cpu_s, cpu_s)


def _own_cpu_s(steps: Sequence[BaseRecord]) -> float | None:
    return _sum(*(step.cost.own_cpu_s for step in steps))


def _sum(*values: float | None) -> float | None:
    known = all_known(values)
    return None if known is None else total(known)


_STEPS: dict[str, Steps] = {
    "compaction": lambda f: f.compactions,
    "commit": lambda f: f.commits,
    "query": lambda f: (*f.after_commit, *f.settled),
}


def known_total(steps: str, field: str) -> Callable[[RunFigures], float | None]:
    """The sum of a field of the costs of all steps of a kind; None if unknown for a step or shared."""
    return lambda f: _of_known(sum, _executed(_STEPS[steps](f)), field)


def highest(steps: str, field: str) -> Callable[[RunFigures], float | None]:
    """The maximum of a field of the costs of all steps of a kind; None if unknown for a step or shared."""
    return lambda f: _of_known(max, _executed(_STEPS[steps](f)), field)


def _executed(steps: Iterable[BaseRecord]) -> list[BaseRecord]:
    """The steps that took time: a refused plan was never executed, and has no CPU by thread and no peak."""
    return [step for step in steps if step.cost.wall_s > 0]


def _of_known(
    combine: Callable[[list[float]], float], steps: Sequence[BaseRecord], field: str
) -> float | None:
    known = all_known(None if step.cost.is_shared else getattr(step.cost, field) for step in steps)
    return float(combine(known)) if known else None
