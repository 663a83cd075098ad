"""How the figures came about, read from the manifests of the runs."""

import json
import shlex
from collections.abc import Iterator, Sequence
from datetime import datetime

from bench.results.folders import RunResult
from bench.results.records import CommitRecord, Manifest
from reports.load import Section
from reports.phrases import Sentence, Verbatim, joined, say
from reports.text import format_bytes, format_duration, format_percent

Entry = tuple[str, Sentence]  # a term and what there is to say about it


_CLOCK: Entry = (
    "Clock",
    say(
        "Scenario time is virtual and stands still while a step runs. At each tick come, one after "
        "the other: the commit, the probes, the decision, the compaction with the primary probe just "
        "before and after it. Each is timed on its own."
    ),
)
_MEASURED: tuple[Entry, ...] = (
    _CLOCK,
    (
        "Cost",
        say(
            "Process CPU seconds (JVM, Python and children) lead, because they bear a shared machine "
            "better than wall seconds. A compaction includes its planning and commit."
        ),
    ),
    ("Commit", say("A batch is read, split and cached before the timer of its commit starts.")),
    (
        "Runs",
        say(
            "Each run is a process of its own with its own JVM and a fresh table. Repetitions "
            "interleave the strategies, so that a drift of the machine spreads over all of them."
        ),
    ),
    ("Warm-up", say("Every probe and action runs first on a throw-away table.")),
)
_MODELLED: tuple[Entry, ...] = (
    _CLOCK,
    (
        "Simulation",
        say(
            "Planners decide as they would on a real table. Files and bytes are counted, seconds "
            "follow from a cost model; neither Java nor storage took part."
        ),
    ),
)
_COMPARED: tuple[Entry, ...] = (
    (
        "Comparisons",
        say(
            "Runs of one repetition are compared with each other. A ratio is the geometric mean over "
            "the repetitions; its 95 % interval is a paired t-interval on logarithms below 20 "
            "repetitions and a symmetric bootstrap-t from there on. Where it holds 1 the report says "
            "undecided. Intervals are not corrected for their number: of 20, one may miss."
        ),
    ),
)
_SAME_EACH_TIME: tuple[Entry, ...] = (
    (
        "Comparisons",
        say("A simulated run repeats to the last byte: ratios are exact for the model, which is not."),
    ),
)


def facts(section: Section) -> Sentence:
    """One line: what ran, how often, on what, when."""
    m = section.manifest
    version = m.versions.get("format") or m.versions.get(m.format) or ""
    repetitions = max((len(row.repetitions) for row in section.rows), default=0)
    counts = (
        _count(len(section.rows), "strategy", "strategies"),
        _count(repetitions, "repetition", "repetitions"),
        _count(_commits(section), "commit", "commits"),
    )
    interval = format_duration(m.commit_interval_ms / 1000)
    every = f"{', '.join(counts)}, one every {interval} of scenario time. "
    what = (Verbatim(m.workload), " on ", Verbatim(f"{m.format} {version}".strip()), f", {m.mode}: ")
    machine = () if section.is_simulated else (*_machine(m), ". ")
    return say(*what, every, *machine, f"{_dates(section.runs)}.")


def method(section: Section) -> tuple[Entry, ...]:
    """The terms in the order they matter; what a run notes itself takes the place of our words."""
    noted = topics(section)
    ours = (entry for entry in _measuring(section) if entry[0] not in noted)
    return (*ours, *_notes(section.runs), *_origin(section))


def topics(section: Section) -> frozenset[str]:
    """What the runs' own notes are about, written like our terms: "warm_up" is "Warm-up"."""
    names = {name for run in section.runs for name in run.manifest.notes}
    return frozenset(name.replace("_", "-").capitalize() for name in names)


def reproduce(section: Section) -> Verbatim:
    """The command that makes the same runs again."""
    m = section.manifest
    return Verbatim(m.command or f"compactbench run {shlex.quote(m.scenario)}")


def effective_options(section: Section) -> tuple[tuple[Sentence, Verbatim], ...]:
    """Each distinct set of effective options with the strategies that ran under it, then the scenario."""
    found: dict[str, list[str]] = {}
    for run in section.runs:
        labels = found.setdefault(_json(run.manifest.options), [])
        if run.manifest.strategy not in labels:
            labels.append(run.manifest.strategy)
    made = [
        (say("Effective options of ") + joined([say(Verbatim(label)) for label in labels]), Verbatim(options))
        for options, labels in found.items()
    ]
    return (*made, (say("The scenario as it was resolved"), Verbatim(_json(section.manifest.scenario_text))))


def _measuring(section: Section) -> Iterator[Entry]:
    m = section.manifest
    every = format_duration(m.probe_every_ms / 1000)
    yield from _MODELLED if section.is_simulated else _MEASURED
    yield (
        "Probes",
        say(
            f"Each runs every {every} of scenario time; the primary one is ",
            Verbatim(m.primary_probe),
            ". Means over time use this cadence only, not the probes around compactions.",
        ),
    )
    yield from _SAME_EACH_TIME if section.is_simulated else _COMPARED
    if section.is_simulated:
        return
    yield (
        "Content",
        say(
            "After the last figure of a run, the whole table is compared with the change log's fold. "
            "A run whose rows differ gives no figures. Here the check was set to ",
            Verbatim(m.verify),
            ".",
        ),
    )


def _origin(section: Section) -> Iterator[Entry]:
    manifests = [run.manifest for run in section.runs]
    m = section.manifest
    versions = joined([say(Verbatim(f"{name} {version}")) for name, version in sorted(m.versions.items())])
    yield "Versions", versions
    if not section.is_simulated:
        yield "Machine", say(*_machine(m), "; system ", Verbatim(m.machine.get("system", "unknown")))
    dirty = " with uncommitted changes" if m.git.get("dirty") else ""
    commit = m.git.get("commit")
    yield "Git", say("commit ", Verbatim(commit), dirty) if commit else say("not run from a checkout")
    yield "Seeds", joined([say(str(seed)) for seed in sorted({other.seed for other in manifests})])
    scenario, log = ({getattr(o, name) for o in manifests} for name in ("scenario_hash", "change_log_hash"))
    yield "Hashes", say("scenario ", *_hashes(scenario), "; change log ", *_hashes(log))
    target = format_bytes(m.target_file_size_bytes)
    yield "Compactor", say(f"{format_bytes(m.memory_bytes)} of memory; target file size {target}")
    shares = [
        say(Verbatim(r), f" {format_percent(section.row(r).values['duty_cycle'] or 0)}")
        for r in section.strategies
    ]
    yield "Duty cycle", joined(shares) + say(" (compaction seconds for each second of scenario time)")
    own = [run.end.own_s / run.end.loop_s for run in section.runs if run.end is not None and run.end.loop_s]
    if own and not section.is_simulated:
        yield (
            "Overhead",
            say(f"at most {format_percent(max(own))} of a run's time was compactbench's own code"),
        )


def _hashes(found: set[str]) -> tuple[str, ...]:
    return joined([say(Verbatim(value[:16])) for value in sorted(found)]).parts


def _notes(runs: Sequence[RunResult]) -> Iterator[Entry]:
    """Facts the runs themselves state; the same one is told once."""
    told = dict.fromkeys((name, note) for run in runs for name, note in run.manifest.notes.items())
    for name, note in told:
        yield Verbatim(name), say(note)


def _machine(m: Manifest) -> tuple[str, ...]:
    cpu, cores, ram = (m.machine.get(name) for name in ("cpu", "cores", "ram_bytes"))
    ram_text = format_bytes(ram) if isinstance(ram, int | float) else "unknown memory"
    cores_text = str(cores) if isinstance(cores, int) else "an unknown number of"
    return (Verbatim(cpu or "unknown CPU"), f", {cores_text} cores, {ram_text}")


def _dates(runs: Sequence[RunResult]) -> str:
    days = sorted({_day(run.manifest.started_utc) for run in runs})
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _day(stamp: str) -> str:
    try:
        return datetime.fromisoformat(stamp).date().isoformat()
    except ValueError:
        return "undated"


def _commits(section: Section) -> int:
    counts = (sum(not c.is_initial for c in run.of(CommitRecord)) for run in section.runs)
    return max(counts, default=0)


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _json(value: object) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
