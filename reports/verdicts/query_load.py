"""What a run costs at a rate of queries."""

import numpy as np

from bench.results.figures import primary_queries_of
from bench.results.folders import RunResult
from bench.results.latency import over_time
from bench.results.query_rate import query_weights
from bench.results.rows import run_figures
from bench.results.table_content import content_share
from bench.results.values import Session

QUERIES_PER_H = (1, 10, 100, 1000)  # that tables show
_HOUR_MS = 3_600_000


def cpu_with_queries_s(run: RunResult, queries_per_h: float, session: Session | None = None) -> float | None:
    """CPU seconds of commits, policy and queries while the table has rows.

    The rate is the mean over the stream; queries arrive as in the scenario. They are those of one kind of
    session, by default of the kind that latencies are of.
    """
    total_cpu_s = run_figures(run)["total_cpu_s"]
    query_cpu_s = over_time(run, primary_queries_of(run, session)).cpu_s
    if total_cpu_s is None or query_cpu_s is None:
        return None
    interval_ms = run.manifest.commit_interval_ms
    ticks = np.arange(1, run.manifest.duration_ms // interval_ms + 1)
    asked = query_weights(run.manifest, ticks)[content_share(run)(ticks) > 0].sum()
    hours = float(asked) * interval_ms / _HOUR_MS
    return total_cpu_s + queries_per_h * hours * query_cpu_s
