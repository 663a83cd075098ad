"""What strategies cost over the best schedule in hindsight, on several kinds of traffic and held-out seeds.

    .venv/bin/python -P -m tools.regrets NAME SCENARIO... --strategies FILE --strategy 'break-even-{rate}' \\
        --interval 'strategies.fixed.every=1min..60min*20' \\
        --threshold 'strategies.count.rules[0].trigger.files=2..400*20'

A scenario is one kind of traffic; its stream and table are used, with the strategies of FILE. Beside each
strategy stand the fixed interval and the count threshold that were the best in hindsight: chosen for each
seed and rate of queries anew, which nobody can do, so they are the hardest that a fixed setting can be.
`{rate}` in a label is the rate, for planners that are told the price of queries. Writes
tools/published/NAME.json; the runs stay in --out, and the same command goes on after an interruption.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.cli.searching import MOMENTS, Search
from bench.cli.tuning import Score, regrets_on, score, streams, with_strategies_of
from bench.hindsight.search import hindsight_scenario
from bench.runs.suite.results_folder import locked
from bench.runs.suite.suite import Options
from bench.scenario.scenario import Scenario
from bench.sweep.grid import families
from reports.verdicts.regrets import Regrets, cheapest, spread
from tools.publishing import FOLDER

RATES = (10.0, 100.0, 1000.0)
SEEDS = 5
_DECIMALS = 4
INTERVAL, THRESHOLD = "best interval in hindsight", "best threshold in hindsight"


def best_of(every: Sequence[Regrets], labels: Sequence[str]) -> tuple[Score, list[str]]:
    """The cheapest of the strategies on each seed, and which one that is."""
    chosen = [cheapest(labels, one.extra_s) for one in every]
    pairs = [*zip(every, chosen, strict=True)]
    best = Score(
        tuple(one.extra_s(label) for one, label in pairs), tuple(one.over_best(label) for one, label in pairs)
    )
    return best, chosen


def document(arguments: argparse.Namespace) -> dict[str, Any]:
    """The figures of all scenarios. Raises ScenarioError."""
    base, _ = hindsight_scenario(arguments.strategies, ())
    over = [arguments.interval, arguments.threshold]
    cells = {axis: [*next(iter(families(base, [axis]).values()))] for axis in over}
    labels = [(label, rate) for label in arguments.strategy for rate in arguments.rates]
    named = [_label(label, rate) for label, rate in labels]
    asked = Search(tuple(arguments.rates), arguments.moments, tuple(arguments.schedules_of))
    options = Options(Path(arguments.out).absolute(), command=shlex.join(["tools.regrets", *sys.argv[1:]]))
    run = list(dict.fromkeys([*named, *(label for own in cells.values() for label in own)]))
    places = [with_strategies_of(name, base) for name in arguments.scenarios]
    made = []
    with locked(options.out):
        for place in places:
            seeds = [place.seed + arguments.after + number for number in range(arguments.seeds)]
            found = regrets_on(streams(place, over, seeds), run, asked, options, quiet=arguments.quiet)
            made.append(_of_scenario(place, seeds, arguments, cells, found))
    return {
        "rates": list(arguments.rates),
        "interval": arguments.interval,
        "threshold": arguments.threshold,
        "traffic": made,
        "over_all": _over_all(made),
    }


def _of_scenario(
    place: Scenario,
    seeds: Sequence[int],
    arguments: argparse.Namespace,
    cells: dict[str, list[str]],
    found: Sequence[tuple[Regrets, ...]],
) -> dict[str, Any]:
    rates = []
    for number, rate in enumerate(arguments.rates):
        every = [of_seed[number] for of_seed in found]
        rates.append(
            {
                "queries_per_h": rate,
                "best_extra_cpu_s": [round(one.best_extra_s, _DECIMALS) for one in every],
                "any_schedule_at_least": [_rounded(one.bound_over_best) for one in every],
                "error_of_parts": [_rounded(one.error) for one in every],
                "strategies": [
                    *(_figures(label, score(every, _label(label, rate))) for label in arguments.strategy),
                    *(
                        {**_figures(name, best), "settings": chosen}
                        for name, axis in ((INTERVAL, arguments.interval), (THRESHOLD, arguments.threshold))
                        for best, chosen in [best_of(every, cells[axis])]
                    ),
                ],
            }
        )
    return {
        "scenario": place.name, "description": place.description, "commits": place.commits_count,
        "seeds": list(seeds),
        "seeds_differ_by": _rounded(max(spread(rate["best_extra_cpu_s"]) for rate in rates)),
        "rates": rates,
    }  # fmt: skip


def _label(label: str, rate: float) -> str:
    return label.replace("{rate}", f"{rate:.10g}")


def _figures(strategy: str, scored: Score) -> dict[str, Any]:
    return {
        "strategy": strategy,
        "extra_cpu_s": _rounded(scored.mean_extra_s),
        "over_best_mean": _rounded(scored.mean_over_best),
        "over_best_worst": _rounded(scored.worst_over_best),
        "over_best": [_rounded(ratio) for ratio in scored.over_best],
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DECIMALS)


def _over_all(made: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of each strategy over all kinds of traffic, rates and seeds; None unless all are known."""
    ratios: dict[str, list[float | None]] = {}
    for figures in (one for of in made for rate in of["rates"] for one in rate["strategies"]):
        ratios.setdefault(figures["strategy"], []).extend(figures["over_best"])
    return [
        {
            "strategy": strategy,
            "over_best_mean": _rounded(whole.mean_over_best),
            "over_best_worst": _rounded(whole.worst_over_best),
            "n": len(whole.over_best),
        }
        for strategy, whole in ((one, Score((), tuple(own))) for one, own in ratios.items())
    ]


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="regrets", description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("name", help="of the file in tools/published")
    parser.add_argument("scenarios", nargs="+", metavar="SCENARIO")
    parser.add_argument(
        "--strategies", required=True, metavar="FILE", help="the scenario with the strategies"
    )
    parser.add_argument("--strategy", action="append", default=[], metavar="LABEL")
    parser.add_argument("--interval", required=True, metavar="KEY=VALUES")
    parser.add_argument("--threshold", required=True, metavar="KEY=VALUES")
    parser.add_argument("--rates", nargs="+", type=float, default=list(RATES), help="queries an hour")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="held-out seeds of each scenario")
    parser.add_argument("--after", type=int, default=SEEDS, help="how many seeds before them were for tuning")
    parser.add_argument("--moments", type=int, default=MOMENTS)
    parser.add_argument("--schedules-of", action="append", default=[], metavar="LABEL")
    parser.add_argument("--out", default="results/regrets")
    parser.add_argument("--quiet", action="store_true")
    return parser.parse_args(words)


def main() -> None:
    arguments = _arguments(sys.argv[1:])
    text = json.dumps(document(arguments), indent=1) + "\n"
    (FOLDER / f"{arguments.name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
