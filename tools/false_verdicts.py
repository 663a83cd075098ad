"""How often a comparison of equals ends in a verdict, and how far off means over time are.

Run by `make noise`, in a few minutes, on simulated noise alone: prints the tables in the docstrings of
`bench.results.latency` and of `reports.verdicts.timings`, `.break_even`, `.contrasts`, `.page_verdicts` and
`.sittings`.
"""

import numpy as np
from simulated_noise import (
    Noise,
    break_evens,
    gate_answers,
    pages_with_any_verdict,
    pages_with_confirmed_verdict,
    reports_with_a_verdict,
    sample_of_sittings,
    sitting_calls,
    suite_shares,
)
from simulated_queries import CYCLES, LATENCIES, MEANS, errors

from bench.comparison.fail_if import parse_limit
from reports.verdicts.sittings import SittingEffect, estimate_effect

PAGES, COMPARISONS, GATES, SUITES = 2_000, 1_500, 500, 100
LEADING = 3  # timings among the metrics compared by default: cost, mean and 95th percentile of the latency


def main() -> None:
    print_means()
    print_suites()
    print_break_evens()
    print_gate()
    print_pages()
    print_reports()
    print_sittings()


def print_means() -> None:
    print(f"error of means over time, % of {SUITES:,} suites and {len(CYCLES)} cycles: bias / rms / one run")
    print(f"{'':<30}" + "".join(f"{name:>18}" for name in MEANS))
    for every in (2, 4):
        for name, latency in LATENCIES.items():
            found = [errors(latency, cycle, every, SUITES) for cycle in CYCLES]
            cells = []
            for mean in MEANS:
                own = [of_cycle[mean] for of_cycle in found]
                bias = max(abs(error.bias) for error in own)
                rms, run_sd = np.sqrt(np.mean([(error.rms**2, error.run_sd**2) for error in own], axis=0))
                cells.append(f"{bias:.1f} / {rms:.1f} / {run_sd:.1f}")
            print(f"{f'{name}, 1 tick of {every}':<30}" + "".join(f"{cell:>18}" for cell in cells))


def print_suites() -> None:
    print(f"\ncomparisons of two strategies in suites with noise, % of {PAGES:,}")
    print(f"{'':<42}{'covered':>9}{'half width':>12}{'1.2 found':>11}{'below 1.1':>11}")
    noises = {
        "six strategies, fixed work": Noise(),
        "six strategies, no fixed work": Noise(work_sd=None),
        "two strategies, fixed work": Noise((0.03,) * 2),
        "two strategies, no fixed work": Noise((0.03,) * 2, work_sd=None),
        "two noisy (8 %) of six, fixed work": Noise((0.08, 0.08, *(0.03,) * 4)),
    }
    for name, noise in noises.items():
        for n in (3, 5, 10):
            covered, half_width, found, below = (100 * share for share in suite_shares(noise, n, PAGES))
            title = f"{name}, n = {n}"
            print(f"{title:<42}{covered:>9.1f}{half_width:>12.1f}{found:>11.0f}{below:>11.0f}")


def print_break_evens() -> None:
    print(f"\nbreak-even rates, % of {COMPARISONS:,}\n{'':<42}{'covered':>9}{'open':>9}{'half width':>12}")
    noises = {
        "six strategies, fixed work": (Noise(), 0.35),
        "six strategies, no fixed work": (Noise(work_sd=None), 0.35),
        "two strategies, fixed work": (Noise((0.03,) * 2), 0.35),
        "two noisy (8 %) of six, fixed work": (Noise((0.08, 0.08, *(0.03,) * 4)), 0.35),
        "six strategies, a saving of 7 %": (Noise(), 0.04),
    }
    for name, (noise, saved_s) in noises.items():
        for n in (3, 5):
            covered, is_open, half_width = (100 * of for of in break_evens(noise, n, COMPARISONS, saved_s))
            print(f"{f'{name}, n = {n}':<42}{covered:>9.1f}{is_open:>9.1f}{half_width:>12.0f}")


def print_gate() -> None:
    limit = parse_limit("query_mean_s>1.1x")
    noises = {"fixed work": Noise((0.03,) * 4), "no fixed work": Noise((0.03,) * 4, work_sd=None)}
    print(f"\ngate of 1.1x on four strategies and two metrics, % of {GATES:,}: fail / undecided / pass")
    print(f"{'':<22}" + "".join(f"{f'n = {n}':>18}" for n in (3, 5, 10)))
    for name, noise in noises.items():
        for change in (0.0, 0.05, 0.1, 0.2):
            cells = []
            for n in (3, 5, 10):
                answers = gate_answers(noise, n, change, limit, GATES)
                shares = (100 * answers[answer] / GATES for answer in ("fail", "undecided", "pass"))
                cells.append(" / ".join(f"{share:.0f}" for share in shares))
            print(f"{f'{name}, {change:+.0%}':<22}" + "".join(f"{cell:>18}" for cell in cells))


def print_pages() -> None:
    print(f"\npages with a false verdict, % of {PAGES:,}")
    print(f"{'':<16}{'each for itself':>18}{'corrected':>12}")
    for n in (3, 5):
        for rho in (0.0, 0.5):
            alone = 100 * pages_with_any_verdict(rho, n, LEADING, PAGES)
            after = 100 * pages_with_confirmed_verdict(rho, n, LEADING, PAGES)
            print(f"n = {n}, rho = {rho:<4}{alone:>18.1f}{after:>12.1f}")


def print_reports() -> None:
    print(f"\nreports with a false verdict, % of {PAGES:,}\n{'':<21}{'each for itself':>17}{'corrected':>13}")
    for n, groups in ((3, 1), (5, 1), (10, 1), (3, 3)):
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
