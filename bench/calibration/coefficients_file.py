"""Writes fitted coefficients into a file, with what they were fitted to and how well."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import Table

from bench.calibration.fit import Fitted
from bench.engines.simulated.costs import ModelError, OperationCost
from bench.engines.simulated.steps import Operation


def with_fitted(
    base: Path,
    fitted: Mapping[Operation, Fitted],
    errors: Mapping[str, ModelError],
    of_operations: Mapping[str, ModelError],
    origin: str,
    cores: int,
    fixed_work_s: float | None,
) -> str:
    """The text of the file `base` with these operations, and errors of figures and of operations.

    `cores` is the most that a run had, `fixed_work_s` the speed of the machine that the operations hold for.
    Other operations keep their coefficients and count as not fitted: they were measured elsewhere, if at all.
    """
    document: Any = tomlkit.parse(base.read_text(encoding="utf-8"))
    document["origin"] = tomlkit.string(origin, multiline=True)
    document["cores"] = cores
    if fixed_work_s is None:
        document.pop("fixed_work_s", None)
    else:
        document["fixed_work_s"] = round(fixed_work_s, 4)
    for name in ("errors", "operation_errors"):
        document.pop(name, None)
    operations = document["operations"]
    for name, operation in operations.items():
        if name not in fitted and "steps" in operation:
            operation["steps"] = 0
    for operation, one in fitted.items():
        operations[operation.value] = _operation(one.cost, one.dropped)
    for name, own in (("errors", errors), ("operation_errors", of_operations)):
        document[name] = tomlkit.table(is_super_table=True)
        document[name].update({of: error.model_dump(exclude_defaults=True) for of, error in own.items()})
    return tomlkit.dumps(document)


def _operation(cost: OperationCost, dropped: Mapping[str, str]) -> Table:
    table = tomlkit.table()
    for name, reason in dropped.items():
        table.add(tomlkit.comment(f"not identified: {name}, {reason}"))
    table.update(cost.model_dump(mode="json", exclude_defaults=True))
    return table
