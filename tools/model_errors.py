"""How far simulations are off from the published runs. `make model-errors` writes the figures of the pages.

`tools/published/model-errors.json` has the errors with the shipped coefficients, by entry ("entries"), and
for runs that these are never fitted to ("held_out"). "unseen" has the errors of all other runs on a local
disk with coefficients that were fitted to the other streams alone, and "fitted" has those of the same
strategies with the shipped ones; its choices are between all strategies. A test simulates some entries again
and compares, so that nobody changes the model without seeing its errors change.
"""

import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from bench.calibration.calibration import calibrated
from bench.calibration.coefficients_file import with_fitted
from bench.calibration.errors import predicts
from bench.calibration.measured import MeasuredStep
from bench.cli.model_validation import validated
from bench.engines.simulated.costs import shipped_file
from bench.runs.resimulation import Resimulation, resimulations
from reports.verdicts.model_errors import (
    FigureSummary,
    ModelErrors,
    RatioSummary,
    Regret,
    figure_summaries,
    ratio_summaries,
)
from tools.calibrating import judged_and_beside, published_steps
from tools.publishing import FOLDER, Entry, entries, unpack

FILE = FOLDER / "model-errors.json"
DECIMALS = 4


def errors_of(entry: Entry) -> tuple[ModelErrors, list[Resimulation]] | None:
    """The errors of an entry's strategies, and those that cannot be simulated.

    None for simulated runs, and for those with a real clock: their roles wait for cores, and `tools.at_once`
    compares what they lose. Raises RuntimeError if a simulation fails.
    """
    runs = unpack(entry.archive)
    if all(run.manifest.mode == "simulated" or run.manifest.is_live for run in runs):
        return None
    errors, made = validated(runs, entry.archive, quiet=True)
    left_out = [one for one in made if one.made is None]
    if failed := [one for one in left_out if one.has_failed]:
        raise RuntimeError(str(failed[0]))
    return errors, left_out


def unseen_errors_of(
    entry: Entry, steps: Sequence[MeasuredStep], fixed_work_cpu_s: float | None
) -> Iterator[ModelErrors]:
    """The errors of an entry, by format, with coefficients fitted to all steps but those of its streams.

    The intervals come from these other streams, too. Strategies that they do not predict are left out.
    """
    runs = [run for run in unpack(entry.archive) if run.manifest.mode == "real"]
    streams = {run.manifest.change_log_hash for run in runs}
    judged, beside = judged_and_beside(step for step in steps if step.stream not in streams)
    for table_format in dict.fromkeys(run.manifest.format for run in runs):
        calibration = calibrated(judged, table_format, fixed_work_cpu_s, beside)
        unpredicted = {
            step.run_id
            for step in steps
            if step.stream in streams and not step.is_initial and not predicts(calibration.fitted, step)
        }
        own = [
            run
            for run in runs
            if run.manifest.format == table_format and run.manifest.run_id not in unpredicted
        ]
        if any(one.planned for one in resimulations([own])):
            with tempfile.TemporaryDirectory(prefix="compactbench-") as folder:
                file = Path(folder) / "coefficients.toml"
                file.write_text(with_fitted(shipped_file(table_format), calibration), encoding="utf-8")
                yield validated(own, entry.archive, file, quiet=True)[0]


def as_document(errors: ModelErrors, left_out: Iterable[Resimulation] = ()) -> Mapping[str, Any]:
    """The errors by format and figure, and the regret of each choice, with four decimals."""
    return {
        "figures": [_rounded(one) for one in figure_summaries(errors.figures)],
        "ratios": [_rounded(one) for one in ratio_summaries(errors.ratios)],
        "regrets": [_rounded(one) for one in errors.regrets],
        "left_out": [one.strategy for one in left_out],
    }


def _rounded(errors: FigureSummary | RatioSummary | Regret) -> dict[str, Any]:
    """The fields of one table row; floats may differ in the last digit between machines."""
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


def of_the_same(errors: ModelErrors, others: ModelErrors) -> ModelErrors:
    """The errors of the figures and ratios of an entry that the others have too, and of all choices."""
    figures = {(one.format, one.strategy, one.metric) for one in others.figures}
    ratios = {(one.format, one.strategies, one.metric) for one in others.ratios}
    return replace(
        errors,
        figures=tuple(one for one in errors.figures if (one.format, one.strategy, one.metric) in figures),
        ratios=tuple(one for one in errors.ratios if (one.format, one.strategies, one.metric) in ratios),
    )


def main() -> None:
    """Simulate every published entry again, twice, and write the file."""
    steps, _, fixed_work_cpu_s = published_steps()
    of_entries: dict[str, Mapping[str, Any]] = {}
    fitted: list[ModelErrors] = []
    unseen: list[ModelErrors] = []
    held_out: list[ModelErrors] = []
    for entry in entries():
        made = errors_of(entry)
        if made is not None:
            errors, left_out = made
            of_entries[entry.name] = as_document(errors, left_out)
            if entry.is_held_out:
                held_out.append(errors)
            elif not entry.is_elsewhere:
                of_entry = joined(unseen_errors_of(entry, steps, fixed_work_cpu_s))
                unseen.append(of_entry)
                fitted.append(of_the_same(errors, of_entry))
            print(f"{entry.name}: {len(errors.figures)} figures", file=sys.stderr)
    document = {
        "fitted": as_document(joined(fitted)),
        "unseen": as_document(joined(unseen)),
        "held_out": as_document(joined(held_out)),
        "entries": of_entries,
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
