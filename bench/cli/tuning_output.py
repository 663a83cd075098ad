"""What `compactbench tune` found, in tables, sentences and rows for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bench.cli.regret_output import EXTRA_CPU_RATIOS
from bench.cli.tables import Column
from bench.cli.tuning import Score
from bench.text import MISSING, counted, human_ratio, whole_percent
from reports.text import cost_text, format_value
from reports.verdicts.regrets import ALIKE, Regrets, spread

CSV_COLUMNS = (
    "queries_per_h", "strategy", "setting", "scenario", "role", "seeds", "extra_cpu_s", "over_best_mean",
    "over_best_worst",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Role:
    """What some seeds of a scenario were used for: "training" or "held-out"."""

    scenario: str
    name: str
    seeds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tuned:
    """A strategy at one rate of queries: the setting that was chosen, None if it has no axis, and its scores.

    The scores are by role, in the order of the roles.
    """

    strategy: str
    setting: str | None
    scores: tuple[Score, ...]


def tuned_table(
    every: Sequence[Tuned], roles: Sequence[Role], own: str
) -> tuple[list[Column], list[tuple[str, ...]]]:
    """`own` is the name of the scenario that was tuned."""
    columns = [Column("strategy"), Column("setting")]
    for role in roles:
        title = role.name if role.scenario == own else role.scenario
        columns += [Column(title, "extra CPU"), Column("over best", "mean"), Column("over best", "worst")]
    return columns, [
        (one.strategy, one.setting or "as it is", *(cell for s in one.scores for cell in _cells(s)))
        for one in every
    ]


def _cells(one: Score) -> tuple[str, ...]:
    extra = MISSING if one.mean_extra_s is None else cost_text(one.mean_extra_s)
    return (extra, format_value("ratio", one.mean_over_best), format_value("ratio", one.worst_over_best))


@dataclass(frozen=True, slots=True)
class Budget:
    """What each family was given: its settings, by label how many it has and its axes as written."""

    settings_count: int
    training_count: int
    grids: dict[str, tuple[int, tuple[str, ...]]]

    @property
    def runs_count(self) -> int:
        return self.settings_count * self.training_count


def budget_sentences(budget: Budget, roles: Sequence[Role]) -> Iterator[str]:
    """The grid and the budget of every family, and which seeds served for what."""
    yield (
        f"Each family had {counted(budget.settings_count, 'setting')} on "
        f"{counted(budget.training_count, 'training seed')}, {counted(budget.runs_count, 'simulated run')}. "
        "Of these the setting with the least mean extra CPU was chosen."
    )
    for label, (count, axes) in budget.grids.items():
        drawn = ", drawn" if count > budget.settings_count else ""
        yield f"{label}: {' '.join(axes)} ({budget.settings_count:,} of {count:,}{drawn})."
    seeds = (f"{role.name} {role.scenario} {_range(role.seeds)}" for role in roles)
    yield f"Seeds: {', '.join(seeds)}."


def _range(seeds: Sequence[int]) -> str:
    return str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"


def regret_remarks(
    by_role: Sequence[Sequence[Sequence[Regrets]]], commits_count: int, moments_count: int
) -> Iterator[str]:
    """What the figures are, and how far to trust them; `by_role` is by role, seed and rate."""
    yield EXTRA_CPU_RATIOS
    of_own = [one for role in by_role[:2] for one in role]
    spreads = [spread([of_seed[n].best_extra_s for of_seed in of_own]) for n in range(len(of_own[0]))]
    if max(spreads) <= ALIKE:
        yield (
            "These seeds hardly differ: the best schedules' extra CPU is the same within "
            f"{whole_percent(ALIKE)}. In a simulation another seed changes which keys and rows a commit has, "
            "but hardly its files, and how many rows only where arrivals are random (workload.arrival: "
            '"poisson", or bursts at_random). So held-out seeds test little here: score another scenario '
            "with --held-out-on."
        )
    else:
        yield (f"Between seeds the best schedules' extra CPU differs by up to {whole_percent(max(spreads))}.")
    all_regrets = [one for role in by_role for of_seed in role for one in of_seed]
    if moments_count < commits_count:
        bounds = [bound for one in all_regrets if (bound := one.bound_over_best) is not None]
        least = f"{human_ratio(min(bounds))} as much" if bounds else "nothing"
        yield (
            f"Schedules that compact at {moments_count:,} of the {commits_count:,} ticks were searched; "
            f"those with any ticks take at least {least}."
        )
    if (worst := max(abs(one.error) for one in all_regrets)) > ALIKE:
        yield (
            f"The CPU of best schedules differs by up to {whole_percent(worst)} from the sum of its parts: "
            "what a compaction does also depends on earlier ones, so there may be better schedules."
        )


def tuned_json(every: Sequence[Tuned], roles: Sequence[Role]) -> list[dict[str, Any]]:
    return [
        {
            "strategy": one.strategy,
            "setting": one.setting,
            "scores": [
                {
                    "scenario": role.scenario, "role": role.name,
                    "extra_cpu_s": scored.mean_extra_s,
                    "over_best_mean": scored.mean_over_best, "over_best_worst": scored.worst_over_best,
                    "seeds": [
                        {"seed": seed, "extra_cpu_s": extra_s, "over_best": ratio}
                        for seed, extra_s, ratio in zip(
                            role.seeds, scored.extra_s, scored.over_best, strict=True
                        )
                    ],
                }
                for role, scored in zip(roles, one.scores, strict=True)
            ],
        }
        for one in every
    ]  # fmt: skip


def csv_lines(rate: float, every: Sequence[Tuned], roles: Sequence[Role]) -> Iterator[tuple[Any, ...]]:
    for one in every:
        for role, scored in zip(roles, one.scores, strict=True):
            yield (
                rate, one.strategy, one.setting, role.scenario, role.name, len(role.seeds),
                scored.mean_extra_s, scored.mean_over_best, scored.worst_over_best,
            )  # fmt: skip
