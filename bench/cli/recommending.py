"""What `compactbench recommend` answers, in sentences and as JSON."""

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from bench.cli.answer_output import print_cautions
from bench.cli.arguments import readable_runs
from bench.cli.confirmation import Beside, beside, print_beside
from bench.cli.confirmation import confirm as confirmed
from bench.cli.output import (
    print_heading,
    print_json,
    print_line,
    print_paragraph,
    print_remark,
)
from bench.cli.recommendation_words import robust_sentence, sentences
from bench.cli.roll_out import roll_out
from bench.comparison.metric_names import check_metric
from bench.errors import ScenarioError
from bench.results.best_schedules import LABEL as HINDSIGHT
from bench.results.folders import RunResult
from bench.results.metrics import METRIC_BY_NAME
from bench.results.remarks import disturbance, uneven_speed
from reports.data.group import RunGroup, run_groups
from reports.verdicts.limit import Limit
from reports.verdicts.money import MONEY
from reports.verdicts.recommended import Recommendation
from reports.verdicts.recommended import recommend as recommended
from reports.verdicts.robust import not_in_all, robust
from strategies.quantities import parse_bytes, parse_duration_s

_LIMIT = re.compile(r"\s*(?P<metric>\w+)\s*(?P<sign>[<>])=\s*(?P<value>\S.*?)\s*")
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Question:
    """The figure to improve, conditions such as "files_end<=500", and the table that the statements name.

    `confirm` says how many strategies are run for real, and `repetitions` how often each.
    """

    objective: str | None
    conditions: Sequence[str]
    table: str
    confirm: int | None
    repetitions: int | None


def print_recommendations(
    results: Sequence[Path], question: Question, output: Literal["table", "json"], *, quiet: bool
) -> bool:
    """Whether there is a strategy for each scenario, by its last answer: the measured one if there is one.

    Raises ScenarioError for what cannot be asked.
    """
    limits = [_limit(text) for text in question.conditions]
    _check(question)
    with readable_runs(results) as runs:
        answers = [
            (group, recommended(group, question.objective or _objective(group, limits), limits))
            for group in _groups(runs, question.confirm)
        ]
        printed: list[dict[str, Any]] = []
        last: list[Recommendation] = []
        for group, answer in answers:
            given, pairs = [(group, answer)], tuple[Beside, ...]()
            _print(group, answer, limits, question.table, output)
            if measured := _measured(group, answer, question, quiet=quiet):
                again = recommended(measured, answer.objective, limits)
                given.append((measured, again))
                figures = (answer.objective, *(limit.metric for limit in limits))
                pairs = tuple(beside(group, measured, figures))
                if output == "table":
                    print_beside(pairs)
                _remark_on(measured)
                _print(measured, again, limits, question.table, output)
            printed.append(_fields(given, pairs, question.table))
            last.append(given[-1][1])
        if output == "json":
            print_json(printed)
        elif len(answers) > 1:
            _print_robust(answers)
    return all(answer.best is not None for answer in last)


def _check(question: Question) -> None:
    """Raises ScenarioError for an objective that no strategy can be best by, and for what has no use."""
    objective = question.objective
    if objective is not None:
        check_metric(objective, "--objective")
        if METRIC_BY_NAME[objective].better == "neither":
            problem = "neither more nor less of it is better: choose another metric"
            raise ScenarioError(problem, code="invalid", path=f"--objective {objective}")
    if not all(question.table.split(".")):
        problem = "is no name of a table: write catalog.namespace.table"
        raise ScenarioError(problem, code="invalid", path=f"--table {question.table}")
    if question.repetitions is not None and question.confirm is None:
        problem = "only real runs are repeated: add --confirm N"
        raise ScenarioError(problem, code="exclusive", path=f"--repetitions {question.repetitions}")


def _measured(group: RunGroup, answer: Recommendation, asked: Question, *, quiet: bool) -> RunGroup | None:
    """Real runs of the best of the simulated strategies; None for real ones, and if none is best."""
    if asked.confirm is None or not group.is_simulated:
        return None
    labels = [row.strategy for row in answer.keeping if row.strategy not in answer.same][: asked.confirm]
    return confirmed(group, labels, asked.repetitions, quiet=quiet) if labels else None


def _remark_on(measured: RunGroup) -> None:
    """What may have disturbed the real runs, on stderr."""
    for row in measured.rows:
        if remark := disturbance(row):
            print_remark(f"{row.strategy}: {remark}")
    if remark := uneven_speed(measured.rows):
        print_remark(remark)


def _groups(runs: Sequence[RunResult], confirm: int | None) -> list[RunGroup]:
    """Those to answer for: with usable runs, and if they are to be confirmed, simulated."""
    policies = [run for run in runs if not run.manifest.strategy.startswith(HINDSIGHT)]
    groups = [part for group in run_groups(policies) for part in group.distinct().parts]
    if confirm is not None:
        groups = [group for group in groups if group.is_simulated]
        if not groups:
            problem = (
                "only simulated runs are confirmed, and there are none: make some with `compactbench sweep`"
            )
            raise ScenarioError(problem, code="no-runs", path=f"--confirm {confirm}")
    return [group for group in groups if group.usable_runs] or groups


def _objective(group: RunGroup, limits: Sequence[Limit]) -> str:
    """Raises ScenarioError if the cheapest is never to compact."""
    if all(row.values[MONEY] is not None for row in group.choices):
        return MONEY
    if not limits:
        raise ScenarioError(
            "give --subject-to, e.g. 'query_mean_s<=2s': without a limit, and without [prices] for compute "
            "and queries, it is cheapest never to compact",
            code="missing",
            path=group.manifest.scenario,
        )
    return group.cost_metric


def _limit(text: str) -> Limit:
    path = f"--subject-to {text}"
    parts = _LIMIT.fullmatch(text)
    if parts is None:
        problem = "write METRIC<=VALUE or METRIC>=VALUE, in quotes, e.g. 'query_mean_s<=2s'"
        raise ScenarioError(problem, code="not-a-condition", path=path)
    metric, value = parts["metric"], parts["value"]
    check_metric(metric, path)
    parsers = {"s": parse_duration_s, "bytes": parse_bytes}
    problem = "must be a finite number"
    for parse in (float, parsers.get(METRIC_BY_NAME[metric].unit, float)):
        try:
            number = float(parse(value))
        except (ValueError, OverflowError) as error:
            problem = f"{metric} is a plain number, e.g. 0.5" if parse is float else str(error)
        else:
            if math.isfinite(number):
                return Limit(metric, "<=" if parts["sign"] == "<" else ">=", number)
    raise ScenarioError(problem, code="invalid", path=path)


def _print(group: RunGroup, answer: Recommendation, limits: Sequence[Limit], table: str, output: str) -> None:
    """The answer as text, if it is to be a table; on stderr in any case what to beware of."""
    if output != "table":
        print_cautions(group)
        return
    m = group.manifest
    print_heading(f"{m.scenario} ({m.format}, {m.mode})")
    for line in sentences(group, answer, limits):
        print_paragraph(line)
    print_cautions(group)
    if answer.best is None:
        return
    for when, statements in roll_out(group, answer.best.strategy, table):
        print_paragraph(when)
        for statement in statements:
            print_line(f"    {statement};")


def _print_robust(answers: Sequence[tuple[RunGroup, Recommendation]]) -> None:
    """The answer for the scenarios of one sweep together, which differ in the stream.

    Real runs do not change it: each scenario has its own strategies confirmed.
    """
    scenarios, first = {group.manifest.scenario for group, _ in answers}, answers[0][0].manifest
    alike = {(group.manifest.format, group.manifest.mode, answer.objective) for group, answer in answers}
    if len(scenarios) < len(answers) or len(alike) > 1:
        return
    print_heading(f"all {len(answers):,} scenarios ({first.format}, {first.mode})")
    print_paragraph(robust_sentence(robust(answers), answers[0][1].objective))
    if absent := not_in_all([group for group, _ in answers]):
        shown = f"{', '.join(absent[:_SHOWN])}{' and others' if len(absent) > _SHOWN else ''}"
        print_paragraph(f"Not considered, because only some of the scenarios have them: {shown}.")


def _fields(
    given: Sequence[tuple[RunGroup, Recommendation]], pairs: Sequence[Beside], table: str
) -> dict[str, Any]:
    """The answer by modelled figures and the one by measured figures, None if it was not given."""
    (group, answer), *_ = given
    by_mode = {one.manifest.mode: _answer_fields(one, own, table) for one, own in given}
    return {
        "scenario": group.manifest.scenario, "format": group.manifest.format,
        "objective": answer.objective,
        "modelled": by_mode.get("simulated"),
        "measured": by_mode.get("real"),
        "confirmed": [{**asdict(pair), "ratio": pair.ratio} for pair in pairs],
    }  # fmt: skip


def _answer_fields(group: RunGroup, answer: Recommendation, table: str) -> dict[str, Any]:
    best = answer.best
    return {
        "strategy": best.strategy if best else None,
        "value": best.values[answer.objective] if best else None,
        "limits": [
            {
                "metric": kept.limit.metric, "limit": kept.limit.value, "is_upper": kept.limit.is_upper,
                "value": kept.value, "expected_within_factor": kept.factor, "at_end": kept.at_end,
                "is_sure": kept.is_sure,
            }
            for kept in answer.kept
        ],
        "safe": answer.safe.strategy if answer.safe else None,
        "same": list(answer.same),
        "not_told_apart": [label for label, _ in answer.alike],
        "without_verdict": dict(answer.unjudged),
        "roll_out": [
            {"when": when, "statements": list(statements)}
            for when, statements in (roll_out(group, best.strategy, table) if best else ())
        ],
    }  # fmt: skip
