"""CPU and memory figures of a policy: of its own steps, and of maintenance and commits.

A figure is None if the CPU of one of its steps is shared with another step.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.results.arithmetic import known_sum, ratio, sum_of_known, total
from bench.results.figures import RunFigures
from bench.results.tables import Records, own_cost, together

Steps = Callable[[RunFigures], tuple[Records[Any], ...]]


def compaction_cpu_s(f: RunFigures) -> float | None:
    return known_sum(own_cost("cpu_s", f.compactions))


def compaction_executor_cpu_s(f: RunFigures) -> float | None:
    return known_sum(own_cost("executor_cpu_s", f.compactions))


def commit_cpu_s(f: RunFigures) -> float | None:
    """Tries that lost a conflict are part of it."""
    wasted_s = f.commits.column("wasted_cpu_s")
    return known_sum(own_cost("cpu_s", f.commits) + np.where(np.isnan(wasted_s), 0.0, wasted_s))


def maintenance_cpu_s(f: RunFigures) -> float | None:
    return known_sum(own_cost("cpu_s", f.maintenance))


def evaluation_cpu_s(f: RunFigures) -> float | None:
    """CPU of decisions and of reading the state for them; None in simulations, which do not model it."""
    if f.is_simulated or f.compactions.column("is_shared").any():
        return None
    return total(f.decisions.column("cpu_s") + f.decisions.column("state_cpu_s"))


def policy_cpu_s(f: RunFigures) -> float | None:
    return sum_of_known([compaction_cpu_s(f), maintenance_cpu_s(f), evaluation_cpu_s(f) or 0.0])


def total_cpu_s(f: RunFigures) -> float | None:
    return sum_of_known([commit_cpu_s(f), policy_cpu_s(f)])


def jit_share(f: RunFigures) -> float | None:
    jit_cpu_s, cpu_s = compaction_total("jit_cpu_s")(f), compaction_cpu_s(f)
    return None if jit_cpu_s is None or cpu_s is None else ratio(jit_cpu_s, cpu_s)


_STEPS: dict[str, Steps] = {
    "compaction": lambda f: (f.compactions,),
    "commit": lambda f: (f.commits,),
    "query": lambda f: (f.after_commit, f.settled),
}


def compaction_total(field: str) -> Callable[[RunFigures], float | None]:
    """The sum of a field of the costs of all compactions; None if unknown for one or shared."""
    return lambda f: _of_known(total, (f.compactions,), field)


def highest(steps: str, field: str) -> Callable[[RunFigures], float | None]:
    """The maximum of a field of the costs of all steps of a kind; None if unknown for a step or shared."""
    return lambda f: _of_known(np.max, _STEPS[steps](f), field)


def _of_known(
    combine: Callable[[np.ndarray], float], steps: tuple[Records[Any], ...], field: str
) -> float | None:
    """Of the steps that took time: a refused plan, never executed, has no CPU by thread and no peak."""
    values = own_cost(field, *steps)[together("wall_s", *steps) > 0]
    return float(combine(values)) if len(values) and not np.isnan(values).any() else None
