"""How often a comparison of equals ends in a verdict.

Run by `make noise`, in a few minutes, on simulated noise alone: prints the tables in the docstrings of
`reports.verdicts.contrasts`, `reports.verdicts.page_verdicts` and `reports.verdicts.sittings`.
"""

import numpy as np
from simulated_noise import (
    pages_with_any_verdict,
    pages_with_confirmed_verdict,
    reports_with_a_verdict,
    sample_of_sittings,
    sitting_calls,
)

from bench.results.metrics import METRICS
from reports.verdicts.sittings import SittingEffect, estimate_effect

PAGES, COMPARISONS = 2_000, 1_500
LEADING = 3  # timings among the metrics compared by default: cost, mean and 95th percentile of the latency


def main() -> None:
    print_pages()
    print_reports()
    print_sittings()


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


def measured(rng: np.random.Generator, tau: float) -> SittingEffect:
    """The effect as six sittings of nine runs show it."""
    effect = estimate_effect([sample_of_sittings(rng, "trust", tau, 6, 9)])
    assert effect is not None
    return effect


if __name__ == "__main__":
    main()
