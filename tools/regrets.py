"""What strategies cost over the best schedule in hindsight, on several kinds of traffic and held-out streams.

    .venv/bin/python -P -m tools.regrets SCENARIO... --strategies FILE --strategy 'break-even-{rate}' \\
        --interval 'strategies.fixed.every=1min..60min*20' \\
        --threshold 'strategies.count.rules[0].trigger.files=2..400*20'

A scenario is one kind of traffic; its stream and table are used, with the strategies of FILE. Its streams
differ by seed, or by the values of a key: SCENARIO:KEY=VALUE,VALUE, such as the files of a trace. Beside each
strategy stand the fixed interval and the count threshold that were the best in hindsight: chosen for each
stream and rate of queries anew, which nobody can do, so they are the hardest that a fixed setting can be.
`{rate}` in a label is the rate, for planners that are told the price of queries.

Adds each kind of traffic to tools/published/regrets.json, or replaces it; docs/findings/regret.md is made
from that (`make docs`), and `make regrets` has the commands. The runs stay in --out, and the same command
goes on after an interruption.
"""

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.cli.searching import MOMENTS, Search
from bench.cli.tuning import Score, by_seed, regrets_on, score, streams, with_strategies_of
from bench.hindsight.search import hindsight_scenario
from bench.runs.suite.results_folder import locked
from bench.runs.suite.suite import Options
from bench.scenario.scenario import Scenario
from bench.sweep.axes import parse_axis
from bench.sweep.grid import families
from reports.verdicts.regrets import Regrets, cheapest
from tools.publishing import FOLDER
from tools.regret_figures import INTERVAL, THRESHOLD, AtRate, OverBest, Traffic, store_traffic

# The page holds for these, so that a new fit of the shipped ones leaves its hours of simulation valid.
COEFFICIENTS = FOLDER / "regrets" / "iceberg.toml"
RATES = (10.0, 100.0, 1000.0)
SEEDS = 5
_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says. `over` are the axes of `INTERVAL` and of `THRESHOLD`."""

    strategies: str
    labels: tuple[str, ...]
    over: dict[str, tuple[str, ...]]
    rates: tuple[float, ...]
    seeds_count: int
    after: int
    moments: int
    schedules_of: tuple[str, ...]
    coefficients: Path

    @property
    def axes(self) -> tuple[str, ...]:
        return tuple(axis for axes in self.over.values() for axis in axes)


def best_of(every: Sequence[Regrets], labels: Sequence[str]) -> tuple[Score, tuple[str, ...]]:
    """The cheapest of the strategies on each stream, and which one that is."""
    chosen = tuple(cheapest(labels, one.extra_s) for one in every)
    pairs = [*zip(every, chosen, strict=True)]
    best = Score(
        tuple(one.extra_s(label) for one, label in pairs), tuple(one.over_best(label) for one, label in pairs)
    )
    return best, chosen


def traffic_of(place: str, asked: Asked, options: Options, *, quiet: bool) -> Traffic:
    """The figures of one kind of traffic, written as on the command line. Raises ScenarioError."""
    name, _, each = place.partition(":")
    base, _ = hindsight_scenario(asked.strategies, ())
    scenario = with_strategies_of(name, base)
    first_seed = scenario.seed + asked.after
    each = each or by_seed(range(first_seed, first_seed + asked.seeds_count))
    cells = _cells(base, asked)
    told = [_at_rate(label, rate) for rate in asked.rates for label in asked.labels]
    labels = list(dict.fromkeys([*told, *(label for own in cells.values() for label in own)]))
    search = Search(asked.rates, asked.moments, asked.schedules_of, asked.coefficients)
    options = replace(options, coefficients=asked.coefficients)
    with locked(options.out):
        found = [  # one stream after the other, which is too little to be worth a process for each run
            of_stream
            for stream in streams(scenario, asked.axes, each)
            for of_stream in regrets_on([stream], labels, search, options, quiet=quiet)
        ]
    return Traffic(
        scenario.name,
        options.command,
        scenario.commits_count,
        parse_axis(each, scenario.commit_interval_ms).values,
        tuple(_rate_of([of_stream[n] for of_stream in found], asked, cells) for n in range(len(asked.rates))),
    )


def _cells(base: Scenario, asked: Asked) -> dict[str, list[str]]:
    """The strategies among which the best of a kind is chosen, by kind."""
    return {
        name: [label for own in families(base, axes).values() for label in own]
        for name, axes in asked.over.items()
    }


def _at_rate(label: str, rate: float) -> str:
    return label.replace("{rate}", f"{rate:.10g}")


def _rate_of(every: Sequence[Regrets], asked: Asked, cells: dict[str, list[str]]) -> AtRate:
    rate = every[0].found.queries_per_h
    best = {name: best_of(every, own) for name, own in cells.items()}
    return AtRate(
        rate,
        tuple(_rounded(one.best_extra_s) for one in every),
        tuple(len(one.found.ticks) for one in every),
        tuple(None if (low := one.bound_over_best) is None else _rounded(low) for one in every),
        tuple(_rounded(one.error) for one in every),
        {
            **{label: _over_best(score(every, _at_rate(label, rate))) for label in asked.labels},
            **{name: _over_best(scored, chosen) for name, (scored, chosen) in best.items()},
        },
    )


def _over_best(scored: Score, settings: tuple[str, ...] = ()) -> OverBest:
    ratios = tuple(None if ratio is None else _rounded(ratio) for ratio in scored.over_best)
    return OverBest(ratios, settings)


def _rounded(value: float) -> float:
    return round(value, _DECIMALS)


def asked_in(words: Sequence[str]) -> tuple[list[str], Asked, argparse.Namespace]:
    """The kinds of traffic, what is asked of them, and the other options."""
    parser = argparse.ArgumentParser(prog="regrets", description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("scenarios", nargs="+", metavar="SCENARIO[:KEY=VALUE,VALUE]")
    parser.add_argument(
        "--strategies", required=True, metavar="FILE", help="the scenario with the strategies"
    )
    parser.add_argument("--strategy", action="append", default=[], metavar="LABEL")
    parser.add_argument("--interval", action="append", required=True, metavar="KEY=VALUES")
    parser.add_argument("--threshold", action="append", required=True, metavar="KEY=VALUES")
    parser.add_argument("--rates", nargs="+", type=float, default=list(RATES), help="queries an hour")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="held-out seeds of each scenario")
    parser.add_argument("--after", type=int, default=SEEDS, help="how many seeds before them were for tuning")
    parser.add_argument("--moments", type=int, default=MOMENTS)
    parser.add_argument("--schedules-of", action="append", default=[], metavar="LABEL")
    parser.add_argument(
        "--coefficients", type=Path, default=COEFFICIENTS, metavar="FILE", help="default: those of the page"
    )
    parser.add_argument("--out", default="results/regrets")
    parser.add_argument("--quiet", action="store_true")
    found = parser.parse_args(words)
    asked = Asked(
        found.strategies,
        tuple(found.strategy),
        {INTERVAL: tuple(found.interval), THRESHOLD: tuple(found.threshold)},
        tuple(found.rates),
        found.seeds,
        found.after,
        found.moments,
        tuple(found.schedules_of),
        found.coefficients,
    )
    return found.scenarios, asked, found


def main() -> None:
    words = sys.argv[1:]
    places, asked, found = asked_in(words)
    command = shlex.join(["python", "-P", "-m", "tools.regrets", *words])
    options = Options(Path(found.out).absolute(), command=command)
    for place in places:
        store_traffic(traffic_of(place, asked, options, quiet=found.quiet))


if __name__ == "__main__":
    main()
