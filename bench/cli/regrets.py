"""What strategies cost over the best schedule in hindsight, and how that is told."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.cli.tables import Column
from bench.hindsight.search import Best
from bench.scenario.plugins import in_words
from bench.text import MISSING, counted, human_duration, human_ratio, named_once, whole_percent
from reports.text import cost_text

_SHOWN = 8
_ALIKE = 0.01  # of a schedule's CPU, by which its simulation may differ from the sum of its parts


@dataclass(frozen=True, slots=True)
class Regrets:
    """At one rate of queries: CPU seconds of commits, policy and queries.

    `floor_cpu_s` is what commits and queries take at least, `found_cpu_s` that of the schedule that was
    found, as simulated, and `cpu_s` that of each strategy, None where it is not known. `cheaper` is a
    strategy with one of the planners whose own schedule is cheaper than what was found.
    """

    best: Best
    floor_cpu_s: float
    found_cpu_s: float
    cpu_s: Mapping[str, float | None]
    cheaper: str | None = None

    @property
    def rate(self) -> str:
        return f"{rate_text(self.best.queries_per_h)} queries an hour"

    @property
    def best_extra_s(self) -> float:
        own_s = None if self.cheaper is None else self.cpu_s[self.cheaper]
        return (self.found_cpu_s if own_s is None else own_s) - self.floor_cpu_s

    @property
    def bound_over_best(self) -> float | None:
        """The extra CPU that each schedule has at least, over that of the best one that was found."""
        return self._over_best(self.best.bound_cpu_s)

    @property
    def error(self) -> float:
        """The schedule that was found, simulated, against the sum of its parts."""
        return self.found_cpu_s / self.best.schedule.cpu_s - 1

    def over_best(self, strategy: str) -> float | None:
        """None if its cost is not known, or if the best schedule has no extra CPU."""
        return self._over_best(self.cpu_s[strategy])

    def _over_best(self, cpu_s: float | None) -> float | None:
        if cpu_s is None or self.best_extra_s <= 0:
            return None
        return (cpu_s - self.floor_cpu_s) / self.best_extra_s


def regret_table(every: Sequence[Regrets]) -> tuple[list[str | Column], list[tuple[str, ...]]]:
    lines = [(strategy, *(_cell(one.over_best(strategy)) for one in every)) for strategy in every[0].cpu_s]
    lines += [
        ("best schedule: extra CPU", *(cost_text(one.best_extra_s) for one in every)),
        (
            "best schedule: compactions",
            *(one.cheaper or str(len(one.best.schedule.ticks)) for one in every),
        ),
    ]
    return ["strategy", *(Column(rate_text(one.best.queries_per_h), "queries/h") for one in every)], lines


def rate_text(queries_per_h: float) -> str:
    return f"{queries_per_h:,g}"


def _cell(ratio: float | None) -> str:
    return MISSING if ratio is None else human_ratio(ratio)


def regret_sentences(
    every: Sequence[Regrets], commits_count: int, moments_count: int, tick_ms: int
) -> Iterator[str]:
    yield (
        "Extra CPU is that of compactions, and what commits and queries take beyond those of a table that is "
        "compacted after each commit at no cost. Each figure is a strategy's extra CPU over that of the best "
        "schedule, which knows the whole stream."
    )
    for one in every:
        schedule = _schedule(one.best, tick_ms) if one.cheaper is None else f"as {one.cheaper} does"
        yield f"Best at {one.rate}: {schedule}."
    if moments_count < commits_count:
        bounds = "; ".join(f"{_cell(one.bound_over_best)} at {one.rate}" for one in every)
        yield (
            f"Schedules that compact at {moments_count:,} of the {commits_count:,} ticks were searched. The "
            f"extra CPU of any schedule is at least this multiple of the best one's: {bounds}."
        )
    rough = [one for one in every if abs(one.error) > _ALIKE]
    if rough:
        rates = named_once(rate_text(one.best.queries_per_h) for one in rough)
        most = whole_percent(max(abs(one.error) for one in rough))
        yield (
            f"At {rates} queries an hour the CPU of the schedule that was found differs by up to {most} from "
            "the sum of its parts: what a compaction does also depends on earlier ones, so there may be "
            "better schedules, and bounds are rough."
        )
    if cheaper := [text for one in every for text in _cheaper(one)]:
        yield (
            f"Cheaper than the best schedule: {'; '.join(cheaper)}. Schedules run one planner of the "
            "scenario; these strategies have another writer, rewrite less of the table, or compact within "
            "commits."
        )


def _cheaper(one: Regrets) -> Iterator[str]:
    for strategy in one.cpu_s:
        ratio = one.over_best(strategy)
        if ratio is not None and ratio < 1 - _ALIKE:
            yield f"{strategy} at {one.rate}"


def _schedule(best: Best, tick_ms: int) -> str:
    ticks = best.schedule.ticks
    if not ticks:
        return "never compact"
    shown = [human_duration(tick * tick_ms / 1000) for tick in ticks[:_SHOWN]]
    more = f" and {len(ticks) - _SHOWN:,} more" if len(ticks) > _SHOWN else ""
    planner = in_words(best.spec.strategy.rules[0].planner)
    return f"{planner}, {counted(len(ticks), 'compaction')}, after {', '.join(shown)}{more}"


def regrets_json(every: Sequence[Regrets], tick_ms: int) -> list[dict[str, Any]]:
    return [
        {
            "queries_per_h": one.best.queries_per_h,
            "found_planner": in_words(one.best.spec.strategy.rules[0].planner),
            "found_compactions_at_s": [tick * tick_ms / 1000 for tick in one.best.schedule.ticks],
            "found_extra_cpu_s": one.found_cpu_s - one.floor_cpu_s,
            "cheaper_strategy": one.cheaper,
            "best_extra_cpu_s": one.best_extra_s,
            "bound_extra_cpu_s": one.best.bound_cpu_s - one.floor_cpu_s,
            "error_of_parts": one.error,
            "strategies": [
                {
                    "strategy": strategy,
                    "extra_cpu_s": None if cpu_s is None else cpu_s - one.floor_cpu_s,
                    "over_best": one.over_best(strategy),
                }
                for strategy, cpu_s in one.cpu_s.items()
            ],
        }
        for one in every
    ]
