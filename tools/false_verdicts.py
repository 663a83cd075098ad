"""How often a comparison of equals ends in a verdict, and how often a rise in latency is found.

Run by `make noise`, in a few minutes, on simulated noise alone: prints the tables in the docstrings of
`reports.verdicts.contrasts`, `reports.verdicts.sittings` and `reports.verdicts.trend`.
"""

import numpy as np
from simulated_noise import (
    TABLES,
    TICKS,
    autocorrelated,
    pages_with_any_verdict,
    pages_with_confirmed_verdict,
    reports_with_a_verdict,
    rising_share,
    sample_of_sittings,
    sitting_calls,
    trends,
    trends_of_runs,
)

from bench.results.metrics import METRICS
from reports.verdicts.sittings import SittingEffect, estimate_effect

PAGES, COMPARISONS, SERIES = 2_000, 1_500, 200
LEADING = 3  # timings among the metrics compared by default: cost, mean and 95th percentile of the latency


def main() -> None:
    print_pages()
    print_reports()
    print_sittings()
    print_trends()
    print_trends_of_runs()


def print_pages() -> None:
    timings = sum(metric.basis == "timing" for metric in METRICS)
    print(f"pages with a false verdict, % of {PAGES:,}")
    print(f"{'':<16}{'before, leading':>18}{f'before, {timings} timings':>22}{'after':>8}")
    for n in (3, 5):
        for rho in (0.0, 0.5):
            shares = (
                pages_with_any_verdict(rho, n, LEADING, PAGES),
                pages_with_any_verdict(rho, n, timings, PAGES),
                pages_with_confirmed_verdict(rho, n, LEADING, PAGES),
            )
            leading, everything, after = (100 * share for share in shares)
            print(f"n = {n}, rho = {rho:<4}{leading:>18.1f}{everything:>22.1f}{after:>8.1f}")


def print_reports() -> None:
    print(f"\nreports with a false verdict, % of {PAGES:,}\n{'':<21}{'each for itself':>17}{'corrected':>13}")
    for n, groups in ((3, 1), (5, 1), (3, 3)):
        alone, corrected = reports_with_a_verdict(n, PAGES, groups)
        print(f"n = {n}, scenarios = {groups:<2}{100 * alone:>17.1f}{100 * corrected:>13.1f}")


def print_sittings() -> None:
    print(f"\nequal results of two sittings called different, % of {COMPARISONS:,}")
    print(f"{'':<16}{'assumed alike':>16}{'widened':>10}{'measured':>10}{'3 sittings a side':>20}")
    for tau in (0.0, 0.02, 0.05, 0.10):
        for n in (3, 5, 20):
            shares = (
                sitting_calls(tau, n, COMPARISONS),
                sitting_calls(tau, n, COMPARISONS, effect=lambda _, tau=tau: SittingEffect(tau)),
                sitting_calls(tau, n, COMPARISONS, effect=lambda rng, tau=tau: measured(rng, tau)),
                sitting_calls(tau, n, COMPARISONS, sittings=3),
            )
            alike, widened, estimated, several = (100 * share for share in shares)
            print(
                f"tau {tau:>4.0%}, n = {n:<4}{alike:>16.1f}{widened:>10.1f}{estimated:>10.1f}{several:>20.1f}"
            )


def print_trends_of_runs() -> None:
    print(f"\nsaid to rise, % of {SERIES:,} groups of three runs whose slopes differ by 15 %")
    print(f"{'true rise':>10}{'means of the runs':>20}{'their slopes':>15}")
    for rise in (0.0, 0.5):
        means, slopes = zip(*trends_of_runs(rise, SERIES), strict=True)
        print(
            f"{rise:>10.0%}{100 * rising_share(list(means)):>20.1f}{100 * rising_share(list(slopes)):>15.1f}"
        )


def measured(rng: np.random.Generator, tau: float) -> SittingEffect:
    """The effect as six sittings of nine runs show it."""
    effect = estimate_effect([sample_of_sittings(rng, "trust", tau, 6, 9)])
    assert effect is not None
    return effect


def print_trends() -> None:
    print(f"\nsaid to rise, % of {SERIES:,}; {TICKS} probes, noise 8 %, JIT fall 35 %")
    print(f"{'table':<18}{'true rise':>10}{'before':>9}{'after':>9}{'12 probes':>11}{'AR(1) 0.3':>11}")
    for table in TABLES:
        for rise in (0.0, 0.2, 0.5):
            series = (
                trends(table, rise, SERIES, controlled=False),
                trends(table, rise, SERIES),
                trends(table, rise, SERIES, every=5),
                trends(table, rise, SERIES, noise=autocorrelated(0.3, 0.08)),
            )
            before, after, few, dependent = (100 * rising_share(trends_of) for trends_of in series)
            print(f"{table:<18}{rise:>10.0%}{before:>9.1f}{after:>9.1f}{few:>11.1f}{dependent:>11.1f}")


if __name__ == "__main__":
    main()
