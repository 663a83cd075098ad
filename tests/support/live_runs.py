"""Runs with a real clock: two strategies, of which one loses compactions and a commit to conflicts."""

from records import commit, compaction, end, observed, query, run, truth

LIVE = {"notes": {"clock": "real"}, "speed": 12.0, "duration_ms": 240_000}  # a minute passes in five seconds
MINUTES = 4


def live(label, *compactions, conflicts=(), late_s=0.0, **changes):
    """A commit a minute, which takes a second; the last one has lost before, and is late."""
    records = [observed()]
    for tick in range(1, MINUTES + 1):
        is_last = tick == MINUTES
        due_s = 5.0 * tick
        lost = conflicts if is_last else ()
        begins_s = due_s + (late_s if is_last else 0.0)
        times = {"started_s": begins_s, "ended_s": begins_s + 1.0, "waited_s": begins_s - due_s}
        redone = {"conflicts": list(lost), "wasted_cpu_s": 2.0 * len(lost)}
        records.append(commit(tick=tick, at_ms=60_000 * tick, **times, **redone))
        records.append(query(0.5, when="due", waited_s=0.25, at_ms=60_000 * tick, tick=tick))
    return run(*records, *compactions, truth(), end(), strategy=label, **{**LIVE, **changes})


def live_runs(**changes):
    eager = live(
        "eager",
        compaction(status="ok", started_s=6.0, ended_s=7.0, cpu_s=4.0),
        compaction(status="conflict", started_s=7.0, ended_s=9.0, cpu_s=3.0),
        compaction(status="unfinished", started_s=9.0, ended_s=9.5, cpu_s=1.0),
        conflicts=["missing data files"],
        **changes,
    )
    return live("never", **changes), eager
