"""Fits the coefficients of operations to measured steps.

Tasks, driver and wall time beside the tasks are fitted apart, each as a sum of amounts times coefficients
that are not negative (Lawson and Hanson 1974, as scipy.optimize.nnls). What is made small is the squared
error relative to the prediction, which a few rounds of reweighting find. Relative to the measured value,
noise would make the fit too low. Each run weighs the same, however many steps it has.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import nnls

from bench.calibration.measured import MeasuredStep
from bench.engines.registry import FORMATS
from bench.engines.simulated.costs import OperationCost, coldness_of, compiled_cpu_s, parallelism
from bench.engines.simulated.steps import PLANNING_OF, Operation
from strategies.grouping import by_key

NO_COST = "no cost found"  # why a coefficient is not in a fit that identifies it

_ROUNDS = 8  # of reweighting; the coefficients change by less than a thousandth after five
_LEAST_S = 1e-3  # what was less than the clocks resolve
# A smaller share of an amount that those before it do not explain tells its cost from theirs only by chance.
_OWN_SHARE_MIN = 0.05
_STEPS_MIN = 5  # fewer steps, such as those of one run, say little about another table
_DIGITS = 3
_NOTHING_S = 1e-9  # what rounding leaves of a coefficient that is 0


@dataclass(frozen=True, slots=True)
class Fitted:
    """The cost of an operation, and the coefficients that its steps do not identify, with the reason."""

    cost: OperationCost
    dropped: Mapping[str, str]


def fit_operations(steps: Iterable[MeasuredStep], table_format: str) -> dict[Operation, Fitted]:
    """The operations of a format of which there are enough steps. The load of a table counts for none."""
    counted = (step for step in steps if step.format == table_format and not step.is_initial)
    by_operation = by_key(counted, lambda step: step.step.operation)
    fitted = {}
    for operation, names in FORMATS[table_format].engines.simulated.calibrating.explaining.items():
        steps_of = by_operation.get(operation, [])
        own = tuple(step for step in steps_of if step.step.amounts.keys() >= {*names})
        if len(own) >= _STEPS_MIN:
            fitted[operation] = _fitted(own, names)
            if operation in PLANNING_OF:
                fitted[PLANNING_OF[operation]] = _planning(own, names)
    return fitted


# Cached, since streams are left out one by one and in pairs, and most of them lack most operations.
@lru_cache(maxsize=1024)
def _fitted(steps: tuple[MeasuredStep, ...], names: tuple[str, ...]) -> Fitted:
    weights = _weights(steps)
    kept, dropped = _identified(steps, names, [step.cost.cpu_s for step in steps], weights)
    amounts = _amounts(steps, kept)
    tasks_s = np.array([step.cost.executor_cpu_s for step in steps])
    jit_s = np.array([step.cost.jit_cpu_s or 0.0 for step in steps])
    cpu_s = np.array([step.cost.cpu_s for step in steps])
    rest_s = np.maximum(cpu_s - jit_s, _LEAST_S)
    coldness = np.array([coldness_of(step.jvm_cpu_s) for step in steps])
    cores = np.array([parallelism(step.cores, step.step.tasks_count) for step in steps])
    beside_s = np.maximum(np.array([step.cost.wall_s for step in steps]) - tasks_s / cores, _LEAST_S)
    wall = relative_fit(np.column_stack([amounts, coldness]), beside_s, weights)
    compiled_s = np.array([compiled_cpu_s(value) for value in rest_s])
    compiler, cold_compiler = _shares(compiled_s, coldness, jit_s, weights)
    cost = OperationCost(
        steps=len(steps),
        tasks=_named(kept, relative_fit(amounts, tasks_s, weights)),
        driver=_named(kept, relative_fit(amounts, np.maximum(rest_s - tasks_s, _LEAST_S), weights)),
        wall=_named(kept, wall[:-1]),
        cold_wall_s=_rounded(wall[-1]),
        compiler=_rounded(compiler),
        cold_compiler=_rounded(cold_compiler),
        ranges=_ranges(steps, names),
    )
    free = [name for name in kept if not any(name in part for part in cost.parts.values())]
    return Fitted(cost, {**dropped, **dict.fromkeys(free, NO_COST)})


@lru_cache(maxsize=1024)
def _planning(steps: tuple[MeasuredStep, ...], names: tuple[str, ...]) -> Fitted:
    weights, planning_s = _weights(steps), [max(step.planning_s or 0.0, _LEAST_S) for step in steps]
    kept, dropped = _identified(steps, names, planning_s, weights)
    wall = relative_fit(_amounts(steps, kept), np.array(planning_s), weights)
    return Fitted(OperationCost(steps=len(steps), wall=_named(kept, wall)), dropped)


def _identified(
    steps: Sequence[MeasuredStep], names: Sequence[str], seconds: Sequence[float], weights: np.ndarray
) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """The amounts whose costs the steps tell apart, as the fit weighs them: relative to what a step takes."""
    amounts = _amounts(steps, names)
    measured_s = np.array(seconds)
    modelled_s = amounts @ relative_fit(amounts, measured_s, weights)
    relative = weights / np.maximum(modelled_s, _least_s(measured_s))
    return identified(names, amounts * relative[:, None])


def identified(names: Sequence[str], columns: np.ndarray) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """The names of columns that those before them do not explain, in order, and why others are left out."""
    kept: list[str] = []
    dropped: dict[str, str] = {}
    basis: list[np.ndarray] = []
    for name, column in zip(names, columns.T, strict=True):
        length = float(np.linalg.norm(column))
        if not length:
            dropped[name] = "no step has any"
            continue
        own = column - sum((direction * (direction @ column) for direction in basis), np.zeros(len(column)))
        share = float(np.linalg.norm(own)) / length
        if share < _OWN_SHARE_MIN:
            dropped[name] = f"{1 - share**2:.1%} explained by {', '.join(kept)}"
            continue
        basis.append(own / np.linalg.norm(own))
        kept.append(name)
    return tuple(kept), dropped


def _least_s(seconds: np.ndarray) -> float:
    """The least prediction that errors are relative to, since a step may be modelled as taking nothing."""
    return 0.02 * float(np.median(seconds)) + 1e-4


def relative_fit(amounts: np.ndarray, seconds: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Coefficients, not negative, with the least squares of weighted relative errors."""
    least_s = _least_s(seconds)
    scale = np.maximum(seconds, least_s)
    coefficients = np.zeros(amounts.shape[1])
    for _ in range(_ROUNDS):
        relative = weights / scale
        coefficients, _residual = nnls(amounts * relative[:, None], seconds * relative, maxiter=1000)
        scale = np.maximum(amounts @ coefficients, least_s)
    return coefficients


def _shares(
    compiled_s: np.ndarray, coldness: np.ndarray, jit_s: np.ndarray, weights: np.ndarray
) -> tuple[float, float]:
    """The compiler's share of the CPU, and how much larger it is in a cold JVM."""
    relative = weights / np.sqrt(compiled_s)
    parts = np.column_stack([compiled_s, compiled_s * coldness])
    (warm, cold), _residual = nnls(parts * relative[:, None], jit_s * relative)
    return float(warm), float(cold)


def _amounts(steps: Sequence[MeasuredStep], names: Collection[str]) -> np.ndarray:
    return np.array([[step.step.amounts[name] for name in names] for step in steps], dtype=float)


def _weights(steps: Sequence[MeasuredStep]) -> np.ndarray:
    counts = Counter(step.run_id for step in steps)
    return np.array([counts[step.run_id] ** -0.5 for step in steps])


def _named(names: Sequence[str], coefficients: np.ndarray) -> dict[str, float]:
    return {
        name: _rounded(value) for name, value in zip(names, coefficients, strict=True) if value > _NOTHING_S
    }


def _ranges(steps: Sequence[MeasuredStep], names: Sequence[str]) -> dict[str, tuple[float, float]]:
    values = _amounts(steps, names)
    return {
        name: (_rounded(low), _rounded(high))
        for name, low, high in zip(names, values.min(axis=0), values.max(axis=0), strict=True)
        if name != "s"
    }


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
