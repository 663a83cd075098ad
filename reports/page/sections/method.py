"""How the figures were obtained, read from the manifests of the runs."""

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from bench.results.folders import RunResult
from bench.results.metrics import LATENCY, METRIC_BY_NAME, PROBED_LATENCY
from bench.results.records import THREADS_CPU, Manifest
from bench.results.table_content import stream_commits_of
from bench.text import counted, human_bytes, human_duration, human_percent, pace_text
from reports.data.group import RunGroup
from reports.page.sections.notes import METHOD, Entry, noted, unexplained
from reports.page.sections.parts import format_names, full_format_names
from reports.phrases import Sentence, Verbatim, joined, listed, say, sentence

_RUNS = say(
    "Each run is a separate process with its own JVM and a fresh table. Repetitions interleave the "
    "strategies, so that drift of the machine affects all of them alike on average."
)
_ROLES = say(
    "Each role of a run (writer, compactor, reader) is a process with its own JVM, on one fresh table at "
    "the same time. Repetitions interleave the strategies, so that drift of the machine affects all of them "
    "alike on average."
)
_ROLES_AS_THREADS = say(
    "Each role of a run (writer, compactor, reader) is a thread with its own Spark session, in one process "
    "and JVM, on one fresh table at the same time. Repetitions interleave the strategies, so that drift of "
    "the machine affects all of them alike on average."
)
_COMPARISONS = say(
    "A ratio is that of geometric means, at equal speed of the machine where that was measured. Its 95 % "
    "confidence interval (CI) is a t-interval on logarithms, with the noise of the strategy moderated by "
    "the noise that all strategies have in common. If the interval contains 1, the difference is not "
    "significant and the report calls it undecided. Verdicts on compaction cost and mean query latency are "
    "corrected for their number on the page (Holm), so that all of them hold together on 19 of 20 such "
    "pages. Everything else is exploratory: each interval stands for one comparison, and one in 20 may miss "
    "the true ratio."
)
_UNPROBED = (
    " Ticks without a query are estimated from the data and delete files of their table, with slopes fitted "
    "to all queries of a run; the details also have the mean of the ticks with a query alone."
)
_SIMULATED_COMPARISONS = say(
    "A simulated run repeats to the last byte, so one run is enough. Files and decisions are counted; bytes "
    "and seconds are modelled. The intervals of ratios of seconds come from the errors of the cost model."
)


def title(groups: Sequence[RunGroup]) -> Sentence:
    """What was run: scenarios, format and version, how many strategies, when."""
    modes = ", simulated" if all(group.is_simulated for group in groups) else ""
    count = len({label for group in groups for label in group.strategies})
    return sentence(
        "{scenarios} on {formats}, {strategies}{modes}, {dates}",
        scenarios=listed([*dict.fromkeys(group.manifest.scenario for group in groups)]),
        formats=format_names(groups), strategies=counted(count, "strategy", "strategies"), modes=modes,
        dates=dates([run for group in groups for run in group.runs]),
    )  # fmt: skip


def section_title(group: RunGroup) -> Sentence:
    m = group.manifest
    return sentence(
        "{scenario} on {format}, {mode}",
        scenario=Verbatim(m.scenario), format=format_names([group]), mode=m.mode,
    )  # fmt: skip


def facts(group: RunGroup) -> Sentence:
    """One line: what ran, how often, on what, when."""
    m = group.manifest
    repetitions = max((len(row.repetitions) for row in group.rows), default=0)
    return sentence(
        "{workload} on {formats}, {mode}: {strategies}, {repetitions}, {commits} of scenario time. {pace}"
        "{machine}{dates}.",
        workload=Verbatim(m.workload), formats=full_format_names(group), mode=m.mode,
        strategies=counted(len(group.rows), "strategy", "strategies"),
        repetitions=counted(repetitions, "repetition"), commits=_commits(group),
        pace=_pace(m) if m.is_live else "",
        machine="" if group.is_simulated else say(*_machine(m), ". "), dates=dates(group.runs),
    )  # fmt: skip


def method(group: RunGroup) -> tuple[Entry, ...]:
    explained = (METHOD[note] for note in METHOD if note in noted(group))
    return (*explained, *_measuring(group), *unexplained(group), *_origin(group))


def reproduce(group: RunGroup) -> Verbatim:
    m = group.manifest
    return Verbatim(m.command or f"compactbench run {shlex.quote(m.scenario)}")


def effective_options(group: RunGroup) -> tuple[tuple[Sentence, Verbatim], ...]:
    """Each distinct set of effective options with the strategies that ran under it, then the scenario."""
    labels_by_options: dict[str, list[str]] = {}
    for run in group.runs:
        labels = labels_by_options.setdefault(_json(run.manifest.options), [])
        if run.manifest.strategy not in labels:
            labels.append(run.manifest.strategy)
    blocks = [
        (say("Effective options of ") + listed(labels), Verbatim(options))
        for options, labels in labels_by_options.items()
    ]
    return (*blocks, (say("Resolved scenario"), Verbatim(_json(group.manifest.scenario_text))))


def _measuring(group: RunGroup) -> Iterator[Entry]:
    m = group.manifest
    yield "Queries", _by_schedule(m) if m.is_live else _by_ticks(group)
    if group.is_simulated:
        yield "Comparisons", _SIMULATED_COMPARISONS
        return
    at_once = _ROLES_AS_THREADS if m.notes.get("cpu") == THREADS_CPU else _ROLES
    yield "Runs", at_once if m.is_live else _RUNS
    yield "Comparisons", _COMPARISONS
    yield (
        "Content",
        sentence(
            "After the last measurement of a run, the whole table is compared with the content that follows "
            "from the change log. Figures of a run that differs are not used. Here the check was set to "
            "{verify}.",
            verify=Verbatim(m.verify),
        ),
    )


def _by_ticks(group: RunGroup) -> Sentence:
    m = group.manifest
    return sentence(
        "The primary query, {query}, runs twice every {interval} of scenario time under every "
        "strategy: right after a commit, and settled, at the end of that tick, after any compaction. "
        "The others run every {side_interval}. Query mean: {query_mean}.{unprobed}",
        query=Verbatim(m.primary_probe), interval=human_duration(m.probe_every_ms / 1000),
        side_interval=human_duration(m.side_probe_every_ms / 1000),
        query_mean=METRIC_BY_NAME[LATENCY].definition_in(m),
        unprobed=_UNPROBED if any(row.values[PROBED_LATENCY] is not None for row in group.rows) else "",
    )  # fmt: skip


def _by_schedule(m: Manifest) -> Sentence:
    return sentence(
        "The primary query, {query}, is due at random moments that the seed draws, alike for all strategies. "
        "Its latency counts from when it was due. Query mean: the mean over all queries.",
        query=Verbatim(m.primary_probe),
    )


def _origin(group: RunGroup) -> Iterator[Entry]:
    manifests = [run.manifest for run in group.runs]
    m = group.manifest
    versions = sorted({pair for part in group.parts for pair in part.manifest.versions.items()})
    yield "Versions", listed([f"{name} {version}" for name, version in versions])
    if not group.is_simulated:
        yield "Machine", say(*_machine(m), "; system ", Verbatim(m.machine.get("system", "unknown")))
    dirty = " with uncommitted changes" if m.git.get("dirty") else ""
    commit = m.git.get("commit")
    yield "Git", say("commit ", Verbatim(commit), dirty) if commit else say("not run from a checkout")
    yield "Seed", joined([say(str(seed)) for seed in sorted({other.seed for other in manifests})])
    scenario, log = ({getattr(o, name) for o in manifests} for name in ("scenario_hash", "change_log_hash"))
    hashes = {"scenario": _hashes(scenario), "change_log": _hashes(log)}
    yield "Hashes", sentence("scenario {scenario}; change log {change_log}", **hashes)
    target = human_bytes(m.target_file_size_bytes)
    yield "Compactor", say(f"{human_bytes(m.memory_bytes)} of memory; target file size {target}")
    known = [(row.strategy, share) for row in group.rows if (share := row.values["duty_cycle"]) is not None]
    if known:
        shares = joined([say(Verbatim(label), f" {human_percent(share)}") for label, share in known])
        of_time = "the stream" if m.is_live else "scenario time"
        yield "Duty cycle", shares + say(f" (compaction seconds per second of {of_time})")
    own = [run.end.own_s / run.end.loop_s for run in group.runs if run.end is not None and run.end.loop_s]
    if own and not group.is_simulated and not m.is_live:
        most = human_percent(max(own))
        yield "Overhead", say(f"at most {most} of a run's time was spent in compactbench's own code")


def _pace(m: Manifest) -> str:
    """How scenario time passes in a run with a real clock."""
    took = human_duration(m.lasted_ms / 1000)
    return f"By a real clock {pace_text(m.speed)}, so the stream of a run took {took}. "


def _hashes(hashes: Iterable[str]) -> Sentence:
    return listed([value[:16] for value in sorted(hashes)])


def _machine(m: Manifest) -> tuple[str, ...]:
    cpu, cores, ram = (m.machine.get(name) for name in ("cpu", "cores", "ram_bytes"))
    ram_text = human_bytes(ram) if isinstance(ram, int | float) else "unknown memory"
    cores_text = str(cores) if isinstance(cores, int) else "an unknown number of"
    return (Verbatim(cpu or "unknown CPU"), f", {cores_text} cores, {ram_text}")


def dates(runs: Sequence[RunResult]) -> str:
    """The day on which the runs began, or the first and the last."""
    days = sorted({datetime.fromisoformat(run.manifest.started_utc).date().isoformat() for run in runs})
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _commits(group: RunGroup) -> str:
    """The number of commits of a run (a range if strategies differ), and their interval or total time."""
    m = group.manifest
    counts = [len(stream_commits_of(run)) for run in group.usable_runs or group.runs]
    least, most = min(counts), max(counts)
    commits = f"{'' if least == most else f'{least:,} to '}{counted(most, 'commit')}"
    if least * m.commit_interval_ms == m.duration_ms:
        return f"{commits}, one every {human_duration(m.commit_interval_ms / 1000)}"
    return f"{commits} in {human_duration(m.duration_ms / 1000)}"


def _json(value: object) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
