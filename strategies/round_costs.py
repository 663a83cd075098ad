"""What rounds of compaction and waiting queries cost, expected at first and corrected by what was seen.

A planner that decides by cost starts from the state's `cost_priors` of its executor, or from the defaults
below, and corrects them by the history of that executor. Both corrections keep a prior of a stated weight:
rounds of equal size cannot tell a fixed cost from one per file, and a single query is noise.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from strategies.state import MIB, OWN_EXECUTOR, CompactionSeen, CostPriors, TableState

# A round on Spark, its one task included, and a query: `rewrite`, `query`, `planning` and `convert` of
# bench/engines/iceberg/coefficients.toml, fitted to 44,509 measured steps. Each MiB read is also written.
SPARK = CostPriors(
    fixed_cpu_s=0.13, cpu_s_per_file=0.0019, cpu_s_per_mib=0.0467,
    query_s_per_file=0.00125, query_s_per_million_rows=0.0444, query_s_per_delete=0.00104,
    conversion_cpu_s=1.98, cpu_s_per_delete=0.00246,
)  # fmt: skip
# A round of DuckDB in the process of the caller: `single_node` of the same file.
WITHOUT_SPARK = replace(
    SPARK, fixed_cpu_s=0.035, cpu_s_per_file=0.00044, cpu_s_per_mib=0.0172, conversion_cpu_s=0.035,
    cpu_s_per_delete=0.00485,
)  # fmt: skip

PRIOR_ROUNDS = 4  # how many rounds the prior is worth
LATEST_ROUNDS = 30  # the rounds learnt from: older ones are of a smaller table and a colder JVM
LEAST_FACTOR = 0.05  # of a prior: noise makes no cost free or negative


@dataclass(frozen=True, slots=True)
class RoundCosts:
    """Costs as far as they are known, and what they rest on.

    `rounds_count` are the rounds and `queries_count` the pairs of a query before and one after a round that
    corrected the prior. Without `has_prior` the state had none, and the defaults of this module were taken.
    """

    costs: CostPriors
    has_prior: bool
    rounds_count: int = 0
    queries_count: int = 0

    def bytes_cpu_s(self, size_bytes: float) -> float:
        """Of reading and writing so many bytes."""
        return 2 * self.costs.cpu_s_per_mib * size_bytes / MIB

    def round_cpu_s(self, files_count: int, size_bytes: int) -> float:
        """Of a round that replaces so many files of so many bytes in all."""
        variable_cpu_s = self.costs.cpu_s_per_file * files_count + self.bytes_cpu_s(size_bytes)
        return self.costs.fixed_cpu_s + variable_cpu_s

    def describe(self, executor: str) -> str:
        if not (self.rounds_count or self.queries_count):
            source = "expected" if self.has_prior else "default"
            return f"{source} costs of {executor}, no round seen"
        return (
            f"costs of {executor} learnt from {self.rounds_count} rounds and {self.queries_count} "
            "pairs of queries around them"
        )


def round_costs(state: TableState, left_out: frozenset[str] = frozenset()) -> RoundCosts:
    """The costs of the state's executor; rounds of the kinds `left_out` are of another nature.

    A compaction that names no executor counts as one of the rule's own.
    """
    prior = state.cost_priors.get(state.executor)
    start = prior or (SPARK if state.executor == OWN_EXECUTOR else WITHOUT_SPARK)
    rounds = [c for c in seen_rounds(state) if c.kind not in left_out][-LATEST_ROUNDS:]
    savings = list(_savings_s_per_file(rounds))
    costs = _with_rounds(start, rounds)
    if savings:
        costs = replace(costs, query_s_per_file=_shrunk(start.query_s_per_file, savings))
    return RoundCosts(costs, prior is not None, len(rounds), len(savings))


def seen_rounds(state: TableState) -> Iterator[CompactionSeen]:
    """The rounds of the state's executor that replaced files, oldest first."""
    for seen in state.compactions:
        if seen.status == "ok" and seen.executor in (None, state.executor) and seen.files_removed_count:
            yield seen


def _with_rounds(prior: CostPriors, rounds: Sequence[CompactionSeen]) -> CostPriors:
    """The costs of a round by ridge regression around the prior.

    Factors on the three costs are fitted to the rounds, and all together pulled to 1 as strongly as by
    `PRIOR_ROUNDS` rounds that cost what the prior says. Each is pulled in proportion to its part of a round,
    so that equal rounds, which cannot tell the costs apart, leave the proportions of the prior as they are.
    """
    amounts = [
        (
            prior.fixed_cpu_s,
            prior.cpu_s_per_file * seen.files_removed_count,
            prior.cpu_s_per_mib * (seen.replaced_bytes + seen.added_bytes) / MIB,
        )
        for seen in rounds
    ]
    mean_s = sum(map(sum, amounts)) / len(amounts) if amounts else 0.0
    if not mean_s:
        return prior
    excess = [seen.cpu_s - sum(row) for row, seen in zip(amounts, rounds, strict=True)]
    columns = list(zip(*amounts, strict=True))
    normal = [[_dot(left, right) for right in columns] for left in columns]
    for place, column in enumerate(columns):
        pull = PRIOR_ROUNDS * mean_s * sum(column) / len(column)
        normal[place][place] += pull or 1.0  # a cost that the prior has at 0 stays there
    fixed, per_file, per_mib = (
        max(LEAST_FACTOR, 1 + change) for change in _solved(normal, [_dot(c, excess) for c in columns])
    )
    return replace(
        prior,
        fixed_cpu_s=fixed * prior.fixed_cpu_s,
        cpu_s_per_file=per_file * prior.cpu_s_per_file,
        cpu_s_per_mib=per_mib * prior.cpu_s_per_mib,
    )


def _savings_s_per_file(rounds: Sequence[CompactionSeen]) -> Iterator[float]:
    """By how much each round made the query faster, for each file that it saved.

    Both queries met the same rows, so growth of the table and a warmer JVM are in neither, unlike in a
    regression of latency on files over time.
    """
    for seen in rounds:
        saved = seen.files_removed_count - seen.files_added_count
        if saved > 0 and seen.query_before_s is not None and seen.query_after_s is not None:
            yield (seen.query_before_s - seen.query_after_s) / saved


def _shrunk(prior: float, values: Sequence[float]) -> float:
    """The median of values, and the prior with the weight of `PRIOR_ROUNDS` of them."""
    count = len(values)
    mixed = (PRIOR_ROUNDS * prior + count * median(values)) / (PRIOR_ROUNDS + count)
    return max(LEAST_FACTOR * prior, mixed)


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def _solved(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """x of matrix x = right, by elimination; the matrix is positive definite, so no pivot is 0."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for place, pivot in enumerate(rows):
        for row in rows[place + 1 :]:
            factor = row[place] / pivot[place]
            row[:] = [a - factor * b for a, b in zip(row, pivot, strict=True)]
    found = [0.0] * len(rows)
    for place in reversed(range(len(rows))):
        *row, value = rows[place]
        found[place] = (value - _dot(row, found)) / row[place]
    return found
