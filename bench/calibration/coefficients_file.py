"""Writes fitted coefficients into a file, with what they were fitted to and how well."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import Table

from bench.calibration.calibration import Calibration
from bench.engines.simulated.costs import OperationCost
from bench.engines.simulated.steps import PLANNING_OF, QUERIES, Operation


def with_fitted(base: Path, made: Calibration) -> str:
    """The text of the file `base` with these operations and errors.

    Other operations keep their coefficients and count as not fitted: they were measured elsewhere, if at all.
    If only queries of new sessions were measured, others have no coefficients, so none are simulated.
    """
    document: Any = tomlkit.parse(base.read_text(encoding="utf-8"))
    document["origin"] = tomlkit.string(made.origin, multiline=True)
    document["cores"] = made.cores
    if made.fixed_work_cpu_s is None:
        document.pop("fixed_work_cpu_s", None)
    else:
        document["fixed_work_cpu_s"] = round(made.fixed_work_cpu_s, 4)
    for name in ("errors", "operation_errors"):
        document.pop(name, None)
    operations = document["operations"]
    for name, operation in operations.items():
        if name not in made.fitted and "steps" in operation:  # its comments are of another fit, too
            kept = OperationCost.model_validate(operation.unwrap())
            operations[name] = _operation(kept.model_copy(update={"steps": 0}), {})
    if Operation.QUERY in made.fitted:
        for query in QUERIES.values():
            if query not in made.fitted:
                operations.pop(query.value, None)
                operations.pop(PLANNING_OF[query].value, None)
    for operation, one in made.fitted.items():
        operations[operation.value] = _operation(one.cost, one.dropped)
    for (operation, part, name), (low, high) in made.spans.items():
        operations[operation.value][part][name].comment(f"{low:.3g} to {high:.3g}")
    for name, own in (("errors", made.errors), ("operation_errors", made.operation_errors)):
        document[name] = tomlkit.table(is_super_table=True)
        document[name].update({of: error.model_dump(exclude_defaults=True) for of, error in own.items()})
    return tomlkit.dumps(document)


def _operation(cost: OperationCost, dropped: Mapping[str, str]) -> Table:
    table = tomlkit.table()
    for name, reason in dropped.items():
        table.add(tomlkit.comment(f"not identified: {name}, {reason}"))
    table.update(cost.model_dump(mode="json", exclude_defaults=True))
    return table
