"""How far simulations are off from the published runs. `make model-errors` writes the figures of the pages.

`tools/published/model-errors.json` has the errors of each entry, and of all entries of a format. A test
simulates some entries again and compares, so that nobody changes the model without seeing its errors change.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from bench.cli.output import ERR
from bench.cli.progress import SuiteProgress
from bench.runs.resimulation import resimulations, simulate
from reports.data.group import run_groups
from reports.verdicts.model_errors import (
    ModelErrors,
    RankSummary,
    Regret,
    Summary,
    model_errors,
    rank_summaries,
    summaries,
)
from tools.publishing import FOLDER, Entry, entries, unpack

FILE = FOLDER / "model-errors.json"
DECIMALS = 4


def errors_of(entry: Entry) -> ModelErrors | None:
    """The errors of an entry's strategies; None for runs that are simulated themselves."""
    tried = resimulations(unpack(entry.archive))
    if not tried:
        return None
    planned = [one.planned for one in tried if one.planned is not None]
    with SuiteProgress(planned, ERR, quiet=True) as progress:
        simulated = simulate(tried, None, progress)
    return model_errors(run_groups(run for one in tried for run in one.real), simulated)


def as_document(errors: ModelErrors) -> Mapping[str, Any]:
    """The errors by format and figure, and the regret of each choice, with four decimals."""
    return {
        "figures": [_rounded(one) for one in summaries(errors.figures)],
        "ratios": [_rounded(one) for one in rank_summaries(errors.ratios)],
        "regrets": [_rounded(one) for one in errors.regrets],
    }


def _rounded(errors: Summary | RankSummary | Regret) -> dict[str, Any]:
    """The fields of one table row; floats differ in the last digit between machines."""
    return {
        name: round(value, DECIMALS) if isinstance(value, float) else value
        for name, value in asdict(errors).items()
    }


def joined(errors: Iterable[ModelErrors]) -> ModelErrors:
    every = tuple(errors)
    return ModelErrors(
        tuple(one for own in every for one in own.figures),
        tuple(one for own in every for one in own.ratios),
        tuple(one for own in every for one in own.regrets),
    )


def main() -> None:
    """Simulate every published entry again and write the file."""
    by_entry: dict[str, ModelErrors] = {}
    for entry in entries():
        errors = errors_of(entry)
        if errors is not None:
            by_entry[entry.name] = errors
            print(f"{entry.name}: {len(errors.figures)} figures", file=sys.stderr)
    document = {
        "all": as_document(joined(by_entry.values())),
        "entries": {name: as_document(errors) for name, errors in by_entry.items()},
    }
    FILE.write_text(f"{as_text(document)}\n", encoding="utf-8")


def as_text(document: Any, depth: int = 0) -> str:
    """JSON with a line for each row of a table."""
    opening, closing, parts = "{", "}", []
    if isinstance(document, list):
        opening, closing, parts = "[", "]", [json.dumps(one) for one in document]
    else:
        parts = [f"{json.dumps(name)}: {as_text(value, depth + 1)}" for name, value in document.items()]
    if not parts:
        return f"{opening}{closing}"
    indent = " " * (depth + 1)
    lines = ",\n".join(f"{indent}{part}" for part in parts)
    return f"{opening}\n{lines}\n{' ' * depth}{closing}"


if __name__ == "__main__":
    main()
