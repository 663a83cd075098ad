"""The costs of strategies over the best schedule, in words."""

from collections.abc import Iterator, Sequence
from typing import Any

from bench.cli.tables import Column
from bench.results.best_schedules import BestSchedule
from bench.text import counted, human_duration, named_once, whole_percent
from reports.text import cost_text, format_value
from reports.verdicts.regrets import ALIKE, EXTRA_CPU, Regrets

_SHOWN = 8

EXTRA_CPU_RATIOS = (
    f"{EXTRA_CPU} Each ratio is a strategy's extra CPU over that of the best "
    "schedule that was found, which knows the whole stream. What comes after its end counts for nothing, "
    "so the best schedule leaves the end alone: compare with a longer duration."
)


def regret_table(every: Sequence[Regrets]) -> tuple[list[str | Column], list[tuple[str, ...]]]:
    lines = [
        (strategy, *(format_value("ratio", one.over_best(strategy)) for one in every))
        for strategy in every[0].cpu_s
    ]
    lines += [
        ("best schedule: extra CPU", *(cost_text(one.best_extra_s) for one in every)),
        (
            "best schedule: compactions",
            *("see below" if one.cheaper else str(len(one.found.ticks)) for one in every),
        ),
        ("any schedule: at least", *(format_value("ratio", one.bound_over_best) for one in every)),
    ]
    return ["strategy", *(Column(_rate(one), "queries/h") for one in every)], lines


def _rate(one: Regrets) -> str:
    return f"{one.found.queries_per_h:,.10g}"


def regret_sentences(
    every: Sequence[Regrets], commits_count: int, moments_count: int, tick_ms: int,
    *, has_checkpoints: bool, has_query_rates: bool,
) -> Iterator[str]:  # fmt: skip
    yield EXTRA_CPU_RATIOS
    yield (
        'All costs are those of a job that has run for days (jvm = "warm"): do not compare them with runs of '
        "the scenario that have another jvm."
    )
    if has_query_rates:
        yield "Rates are means over the stream: queries arrive as queries.arrival of the scenario says."
    for one in every:
        schedule = _schedule(one.found, tick_ms) if one.cheaper is None else f"as {one.cheaper} does"
        yield f"Best at {_rate(one)} queries/h: {schedule}."
    if moments_count < commits_count:
        yield (
            f"Schedules that compact at {moments_count:,} of the {commits_count:,} ticks were searched; the "
            "last row of the table is the extra CPU that a schedule with any ticks has at least."
        )
    if has_checkpoints:
        yield (
            "A checkpoint of the log comes with every so many versions, and compactions are versions: other "
            "schedules may cost less than these and their bounds."
        )
    if rough := [one for one in every if abs(one.error) > ALIKE]:
        yield (
            f"At {named_once(map(_rate, rough))} queries/h the CPU of the schedule that was found differs by "
            f"up to {whole_percent(max(abs(one.error) for one in rough))} from the sum of its parts: what a "
            "compaction does also depends on earlier ones, so there may be better schedules, and bounds are "
            "rough."
        )
    if cheaper := [text for one in every for text in _cheaper(one)]:
        yield (
            f"Cheaper than any schedule of one planner that was found: {'; '.join(cheaper)} queries/h. These "
            "strategies have several planners or another writer, or compact within commits."
        )


def _cheaper(one: Regrets) -> Iterator[str]:
    for strategy in one.cpu_s:
        ratio = one.over_best(strategy)
        if ratio is not None and ratio < 1 - ALIKE:
            yield f"{strategy} at {_rate(one)}"


def _schedule(found: BestSchedule, tick_ms: int) -> str:
    ticks = found.ticks
    if not ticks:
        return "never compact"
    shown = [human_duration(tick * tick_ms / 1000) for tick in ticks[:_SHOWN]]
    more = f" and {len(ticks) - _SHOWN:,} more" if len(ticks) > _SHOWN else ""
    return f"{found.planner}, {counted(len(ticks), 'compaction')}, after {', '.join(shown)}{more}"


def regrets_json(every: Sequence[Regrets], tick_ms: int) -> list[dict[str, Any]]:
    return [
        {
            "queries_per_h": one.found.queries_per_h,
            "found": {
                "planner": one.found.planner,
                "compactions_at_s": [tick * tick_ms / 1000 for tick in one.found.ticks],
                "extra_cpu_s": one.found_cpu_s - one.found.floor_cpu_s,
                "error_of_parts": one.error,
            },
            "cheaper_strategy": one.cheaper,
            "best_extra_cpu_s": one.best_extra_s,
            "bound_extra_cpu_s": one.found.bound_cpu_s - one.found.floor_cpu_s,
            "strategies": [
                {
                    "strategy": strategy,
                    "extra_cpu_s": one.extra_s(strategy),
                    "over_best": one.over_best(strategy),
                }
                for strategy in one.cpu_s
            ],
        }
        for one in every
    ]
