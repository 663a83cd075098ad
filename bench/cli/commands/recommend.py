"""`compactbench recommend`: which strategy to run, given what to minimise and what to keep."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from bench.cli.arguments import ResultsArgument, readable_runs
from bench.cli.output import FormatOption, print_heading, print_json, print_line, print_paragraph
from bench.engines.keys import known_text
from bench.engines.registry import FORMATS
from bench.errors import ScenarioError
from bench.results.metrics import METRIC_BY_NAME
from bench.scenario.plugins import PLANNER, TRIGGER, build, in_words
from bench.text import counted, human_ratio, named_once
from reports.data.group import RunGroup, run_groups
from reports.text import format_value
from reports.verdicts.compare import Comparison
from reports.verdicts.recommended import Kept, Limit, Recommendation
from reports.verdicts.recommended import recommend as recommended
from strategies.planner import traits_of
from strategies.quantities import parse_bytes, parse_duration_s

_LIMIT = re.compile(r"\s*(?P<metric>\w+)\s*<=\s*(?P<value>\S+)\s*")
_SHOWN = 5


def recommend(
    results: ResultsArgument,
    objective: Annotated[
        str, typer.Option(metavar="METRIC", help="The figure to minimise (`compactbench list metrics`).")
    ] = "compaction_cpu_s",
    subject_to: Annotated[
        list[str] | None,
        typer.Option(
            "--subject-to",
            metavar="METRIC<=VALUE",
            help="A figure that must be at most VALUE, such as 'query_mean_s<=2s'. May be repeated.",
        ),
    ] = None,
    table: Annotated[
        str, typer.Option(metavar="NAME", help="The table in the statements of the roll-out.")
    ] = "my_catalog.my_db.my_table",
    output: FormatOption = "table",
) -> None:
    """Say which strategy to run: the cheapest one that keeps your limits, and how sure that is.

    * `compactbench recommend --subject-to 'query_mean_s<=2s'`

    * `compactbench recommend results/sweep --subject-to 'files_end<=500'`

    * `compactbench recommend --objective storage_bytes_end`

    It answers for each scenario in RESULTS, measured or simulated, and names what decides: strategies that
    noise or the errors of the cost model do not tell from the answer, the next cheaper one with the limit
    that it breaks, and by how much a limit is kept. A sweep gives it something to choose from. Last come the
    statements of Spark SQL that do on a table what the strategy did, to be run whenever its trigger says.

    The exit code is 1 if in some scenario no strategy keeps the limits.
    """
    limits = [_limit(text) for text in subject_to or ()]
    if objective not in METRIC_BY_NAME:
        problem = f"{objective!r} is not a metric; {known_text(objective, METRIC_BY_NAME)}"
        raise ScenarioError(problem, code="unknown-name", path="--objective")
    with readable_runs(results) as runs:
        groups = [group.distinct() for group in run_groups(runs)]
        answers = [(group, recommended(group, objective, limits)) for group in groups]
        if output == "json":
            print_json([_fields(group, answer) for group, answer in answers])
        else:
            for group, answer in answers:
                m = group.manifest
                print_heading(f"{m.scenario} ({m.format}, {m.mode})")
                for line in _unmet(limits) if answer is None else _lines(group, answer):
                    print_paragraph(line)
                for when, statements in () if answer is None else _roll_out(group, answer, table):
                    print_paragraph(when)
                    for statement in statements:
                        print_line(f"    {statement};")
    if any(answer is None for _, answer in answers):
        raise typer.Exit(1)


def _limit(text: str) -> Limit:
    path = f"--subject-to {text}"
    parts = _LIMIT.fullmatch(text)
    if parts is None:
        problem = "write METRIC<=VALUE, in quotes, e.g. 'query_mean_s<=2s'"
        raise ScenarioError(problem, code="not-a-condition", path=path)
    metric, value = parts["metric"], parts["value"]
    if metric not in METRIC_BY_NAME:
        problem = f"{metric!r} is not a metric; {known_text(metric, METRIC_BY_NAME)}"
        raise ScenarioError(problem, code="unknown-name", path=path)
    parsers = {"s": parse_duration_s, "bytes": parse_bytes}
    for parse in (float, parsers.get(METRIC_BY_NAME[metric].unit, float)):
        try:
            return Limit(metric, float(parse(value)))
        except ValueError as error:
            problem = str(error)
    raise ScenarioError(problem, code="invalid", path=path)


def _unmet(limits: Sequence[Limit]) -> list[str]:
    kept = named_once(f"{limit.metric} <= {format_value(limit.metric, limit.at_most)}" for limit in limits)
    return [f"No strategy keeps {kept}." if limits else "No strategy has that figure."]


def _lines(group: RunGroup, answer: Recommendation) -> list[str]:
    best, objective = answer.best, answer.objective
    summary = group.manifest_of(best.strategy).strategy_summary
    count = counted(answer.kept_count, "strategy") if answer.kept_count == 1 else f"{answer.kept_count:,}"
    value = format_value(objective, best.values[objective])
    lines = [
        f"Run {best.strategy}: {summary}.",
        f"Its {objective} is {value}, the least of {count} that keep the limits.",
        *(_kept_in_words(kept) for kept in answer.kept),
    ]
    if answer.safe:
        safe = format_value(objective, answer.safe.values[objective])
        lines.append(f"To be safe: {answer.safe.strategy}, {safe}, keeps the limits by more than that.")
    if answer.beyond:
        row, limit = answer.beyond
        lines.append(
            f"Cheaper, but beyond a limit: {row.strategy}, {format_value(objective, row.values[objective])} "
            f"with {limit.metric} = {format_value(limit.metric, row.values[limit.metric])}."
        )
    if answer.alike:
        shown = "; ".join(f"{label} ({_ratio(one)})" for label, one in answer.alike[:_SHOWN])
        more = f"; and {len(answer.alike) - _SHOWN:,} more" if len(answer.alike) > _SHOWN else ""
        why = "the errors of the model do not" if group.is_simulated else "noise does not"
        lines.append(f"By {objective}, {why} tell it from {shown}{more}.")
    if answer.unjudged:
        lines.append(f"Without a verdict on seconds: {named_once(answer.unjudged)}.")
    return lines


def _roll_out(group: RunGroup, answer: Recommendation, table: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """When to run which statements on the table, for each rule of the strategy."""
    label = answer.best.strategy
    manifest = group.manifest_of(label)
    roll_out = FORMATS[manifest.format].engines.roll_out
    for rule in group.definition(label).get("rules", ()):
        planner = build(PLANNER, rule["planner"], Path.cwd())
        if not traits_of(planner).may_plan:
            continue
        when = in_words(build(TRIGGER, rule["trigger"], Path.cwd()))
        statements = roll_out(planner, table, manifest.target_file_size_bytes)
        if statements:
            yield f"To roll it out, run on the table, {when}:", statements
        else:
            why = f"{in_words(planner)} plans by the table's state: no statement does the same."
            yield f"{when}: {why}", ()


def _kept_in_words(kept: Kept) -> str:
    metric = kept.limit.metric
    value, at_most = format_value(metric, kept.value), format_value(metric, kept.limit.at_most)
    if kept.factor is None:
        return f"{metric} is {value}, at most {at_most}; how far the model is off is not known."
    if kept.is_sure:
        return f"{metric} is {value}, safely at most {at_most}."
    factor = human_ratio(kept.factor)
    return f"{metric} is {value}, at most {at_most}, but it may be {factor} that: the limit may not hold."


def _ratio(comparison: Comparison) -> str:
    if comparison.ratio is None or comparison.low is None or comparison.high is None:
        return "ratio not known"
    interval = f", {human_ratio(comparison.low)} to {human_ratio(comparison.high)}"
    return f"{human_ratio(comparison.ratio)}{interval if comparison.has_interval else ''}"


def _fields(group: RunGroup, answer: Recommendation | None) -> dict[str, Any]:
    m = group.manifest
    place = {"scenario": m.scenario, "format": m.format, "mode": m.mode}
    if answer is None:
        return {**place, "strategy": None}
    best = answer.best
    return {
        **place,
        "strategy": best.strategy,
        answer.objective: best.values[answer.objective],
        "limits": [
            {
                "metric": kept.limit.metric, "at_most": kept.limit.at_most, "value": kept.value,
                "expected_within_factor": kept.factor, "is_sure": kept.is_sure,
            }
            for kept in answer.kept
        ],
        "safe": answer.safe.strategy if answer.safe else None,
        "not_told_apart": [label for label, _ in answer.alike],
        "without_verdict": list(answer.unjudged),
    }  # fmt: skip
