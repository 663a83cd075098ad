"""Published results: the runs behind every figure that README and docs state, and the pages made from them.

    tools/published/index.toml      each set of runs: the command that made it, and what rests on it
    tools/published/<name>.tar.xz   manifests and records of its runs
    tools/published/**/*.md.j2      the pages; their measured figures are computed when they are written
    tools/published/readme/*.md.j2  the blocks of README.md with figures
    tools/published/model-errors.json   how far simulations of these runs are off (`make model-errors`)
    tools/published/outside-tables.json predictions of tables from other clusters (`make outside-tables`)
    tools/published/executor-rounds.json    rounds by Spark and without it (`tools.executor_rounds --store`)
    tools/published/regrets.json    what break_even costs over the best schedules (`make regrets`)

`make docs` writes the pages. A test writes them again and compares, so that no figure in prose can drift from
the runs it came from. `python -m tools.publishing NAME RESULTS...` packs runs.
"""

import io
import json
import math
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import cache, cached_property
from operator import sub
from pathlib import Path
from statistics import fmean
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bench.engines.registry import FORMATS
from bench.results.agreement import Pair, side_by_side
from bench.results.arithmetic import ratio
from bench.results.figures import primary_queries_of
from bench.results.folders import RunResult, load_runs, missing_positions
from bench.results.metrics import PROBED_LATENCY, Unit
from bench.results.records import (
    EVENT_TABLES,
    EVENTS,
    MANIFEST,
    REPLACED,
    CompactionRecord,
    WarmUpRecord,
)
from bench.results.rows import FIXED_WORK, slowdown, usable
from bench.results.sessions import queries_by
from bench.results.table_content import stream_commits_of
from bench.results.values import NO_COST
from bench.runs.resimulation import fixed_work_cpu_s
from bench.text import MISSING, human_percent, human_ratio, named_once
from reports.data.group import RunGroup, run_groups
from reports.page.markdown import table as as_markdown
from reports.page.render import render
from reports.page.sections.cautions import cold_planners, growing_deletes
from reports.page.sections.partitions import partition_tables
from reports.page.tables import ratio_text
from reports.text import format_value, shared_decimals
from reports.verdicts.compare import Comparison
from reports.verdicts.confidence import TWO_SIDED
from reports.verdicts.judge import compare_strategies
from reports.verdicts.phases import phase_effect
from reports.verdicts.samples import samples
from reports.verdicts.sittings import estimate_effect
from reports.verdicts.timings import compare_timings
from reports.verdicts.unmodelled import widening
from tools.at_once import commit_tail, judged, outcomes_of, query_tail, reasons
from tools.executor_figures import stored_rounds
from tools.finding_charts import FINDING_CHARTS
from tools.regret_figures import chosen, stored_traffic, worst

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tools" / "published"
DOCS = ROOT / "docs"
EXAMPLE = ROOT / "reports" / "examples" / "append-only"  # the report of the published runs of that name
BEGIN, END = "<!-- begin: {} -->", "<!-- end: {} -->"


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    command: str
    claims: tuple[str, ...]
    left_out: str = ""  # what was run and is not in the archive, as far as anybody noted it
    earlier: str = ""  # the commit whose scenario of this name was run, if it has changed since
    begun_by: str = ""  # the command that made the first of its runs, if that was another one
    is_held_out: bool = False  # whether the cost model is never fitted to its runs
    is_elsewhere: bool = False  # whether its files are on storage that the cost model is not meant for

    @property
    def archive(self) -> Path:
        return FOLDER / f"{self.name}.tar.xz"


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many evaluations of a strategy ended alike in two modes, and how many compactions, as text.

    `partitions` are compactions of the same partitions, `files` those of as many files in them, too.
    """

    decisions: str
    partitions: str
    files: str


@dataclass(frozen=True)
class Published:
    """The runs of one entry, as the pages use them: figures are text, a dash if unknown."""

    entry: Entry
    group: RunGroup

    @property
    def strategies(self) -> tuple[str, ...]:
        return self.group.strategies

    @cached_property
    def runs(self) -> str:
        """How many runs of each strategy are used: "5", or "3 to 5" where that differs."""
        counts = sorted({row.runs for row in self.group.rows})
        return f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"

    @cached_property
    def disturbed(self) -> str:
        """How many of the watched runs other processes disturbed, and their strategies.

        For example "2 of 30 runs (`never`, `amoro`)".
        """
        labels = dict.fromkeys(f"`{run.manifest.strategy}`" for run, _ in self.group.disturbed_runs)
        names = f" ({', '.join(labels)})" if labels else ""
        return f"{len(self.group.disturbed_runs)} of {len(self.group.watched_runs)} runs{names}"

    @cached_property
    def left_out(self) -> str:
        """Runs that were made and are not used, to follow `disturbed`; empty if there are none.

        For example "; replaced: 1 of 37 runs; missing from the archive: 3 of 39 runs".
        """
        runs = self.group.runs
        counts = {
            "replaced": sum(run.replaced is not None for run in runs),
            "unfinished and repeated": sum(not run.finished and run.replaced is None for run in runs),
        }
        parts = [f"; {name}: {count} of {len(runs)} runs" for name, count in counts.items() if count]
        gone = sum(len(positions) for _, positions in missing_positions(runs))
        if gone:
            parts.append(f"; missing from the archive: {gone} of {len(runs) + gone} runs")
        return "".join(parts)

    @cached_property
    def drift(self) -> str:
        """How much slower the machine was in the slowest run than in the fastest, to follow `disturbed`."""
        share = slowdown(self.group.rows)
        if share is None:
            return "; speed of the machine: not recorded"
        return f"; fixed piece of work up to {human_percent(share)} longer in one run than in another"

    @cached_property
    def fixed_work_s(self) -> float:
        """The mean wall time of the fixed work in the runs that measured it."""
        return fmean(self.group.values(FIXED_WORK, self.group.usable_runs))

    @cached_property
    def fixed_work_cpu_s(self) -> float | None:
        """The mean CPU of the fixed work, the speed at which these runs are simulated again."""
        return fixed_work_cpu_s(self.group.usable_runs)

    @cached_property
    def plain_mean_off(self) -> str:
        """How far the mean of the queries that ran is off the mean over time under any strategy, as "3 %"."""
        means = [(row.values[PROBED_LATENCY], row.values["query_mean_s"]) for row in self.group.rows]
        offs = [abs(plain / over_time - 1) for plain, over_time in means if plain is not None and over_time]
        return human_percent(max(offs))

    @cached_property
    def sessions(self) -> str:
        """Whose queries the latencies are of."""
        run = next(iter(self.group.first_runs.values()))
        return f"{queries_by(run)[0].session} sessions"

    @cached_property
    def missing(self) -> str:
        """Positions of runs that are missing from the archive, "17, 18 and 21"; empty if none are."""
        positions = [place for _, places in missing_positions(self.group.runs) for place in places]
        return named_once(map(str, positions)) if positions else ""

    @cached_property
    def warmed(self) -> str:
        """In how many rounds of all runs the planners acted, and which of several hardly did."""
        records = [record for run in self.group.usable_runs for record in run.of(WarmUpRecord)]
        is_one = len({record.options for record in records}) == 1
        cold = {} if is_one else cold_planners(self.group.usable_runs)
        acted = f"{sum(record.acted for record in records):,} of {len(records):,} rounds"
        return ", ".join((acted, *(f"`{planner}` in {rounds}" for planner, rounds in cold.items())))

    def between_sittings(self, metric: str) -> str:
        """How far sittings are apart, "3.1 % of 4 sittings"; a dash if all runs were made in one."""
        effect = estimate_effect([*samples(self.group, metric).values()])
        if effect is None:
            return MISSING
        return f"{human_percent(effect.sd)} of {round(effect.freedom) + 1} sittings"

    @cached_property
    def processor(self) -> str:
        """The processors that the runs were made on."""
        return " and ".join(sorted({str(run.manifest.machine.get("cpu")) for run in self.group.usable_runs}))

    def disturbed_of(self, strategy: str) -> str:
        """How many runs of a strategy other processes disturbed: "3 of 3"."""
        disturbed, watched = (
            sum(run.manifest.strategy == strategy for run, _ in runs)
            for runs in (self.group.disturbed_runs, self.group.watched_runs)
        )
        return f"{disturbed} of {watched}"

    def number(self, strategy: str, metric: str, scale: float = 1, decimals: int | None = None) -> str:
        """The mean over the runs as a bare number, times `scale`; two digits unless `decimals` says more."""
        value = self.group.row(strategy).values[metric]
        return MISSING if value is None else _number(value * scale, decimals)

    def span(self, strategy: str, metric: str, scale: float = 1, decimals: int | None = None) -> str:
        """The mean, with the lowest and the highest run in brackets if they differ."""
        mean = self.number(strategy, metric, scale, decimals)
        known = [v * scale for v in self.group.row(strategy).run_values[metric] if v is not None]
        if len(known) < 2 or min(known) == max(known):
            return mean
        digits = decimals if decimals is not None else shared_decimals(known)
        return f"{mean} ({_number(min(known), digits)} to {_number(max(known), digits)})"

    def figure(self, strategy: str, metric: str) -> str:
        return format_value(metric, self.group.row(strategy).values[metric])

    def version(self, name: str) -> str:
        return self.group.manifest.versions[name]

    @cached_property
    def versions(self) -> str:
        """The versions of the formats and of Spark."""
        manifests = [run.manifest for run in self.group.runs]
        formats = {m.format_title or m.format: m.versions[m.format] for m in manifests}
        return ", ".join(f"{name} {of}" for name, of in (*formats.items(), ("Spark", self.version("spark"))))

    @cached_property
    def commits(self) -> int:
        """How many commits a run has, without the load."""
        run = next(iter(self.group.first_runs.values()))
        return len(stream_commits_of(run))

    @cached_property
    def queries(self) -> int:
        """How many queries of a run count in its mean latency."""
        run = next(iter(self.group.first_runs.values()))
        return len(primary_queries_of(run).having(when="settled"))

    @cached_property
    def replay_s(self) -> str:
        """The shortest and the longest replay of the runs, in whole seconds."""
        return _span_of([round(run.end.loop_s) for run in self.group.usable_runs if run.end])

    def deletes_left(self, strategy: str) -> str:
        """The deleted rows that compactions of the first run left, each of them more than the one before."""
        left = growing_deletes(self.group.first_runs[strategy])
        return f"{left[0]:,} after the first, {left[-1]:,} after the last" if left else MISSING

    def jit_share(self, strategy: str) -> str:
        """The compiler's share of the CPU of the stream's commits and of compactions, together."""
        costs = [
            step.cost
            for run in self.group.usable_runs_of(strategy)
            for step in (*stream_commits_of(run), *run.of(CompactionRecord))
            if step.cost.wall_s  # not those of refused plans, which are unknown
        ]
        cost = sum(costs, NO_COST)
        return MISSING if cost.jit_cpu_s is None else format_value("share", ratio(cost.jit_cpu_s, cost.cpu_s))

    def without_jit(self, strategy: str, other: str) -> str:
        """The ratio of the CPU of compactions without the compiler's, with its interval."""
        cpu, jit = (samples(self.group, metric) for metric in ("compaction_cpu_s", "compaction_jit_cpu_s"))
        rest = {
            label: replace(cpu[label], values=tuple(map(sub, cpu[label].values, jit[label].values)))
            for label in cpu
            if label in jit and len(cpu[label].values) == len(jit[label].values)
        }
        if not {strategy, other} <= rest.keys():
            return MISSING
        return ratio_text(compare_timings(rest, strategy, other))

    def ratio_of_part(self, strategy: str, other: str, part: int, parts: int) -> str:
        """How the mean CPU of a compaction compares in a part of the stream: `part` of `parts`, from 0."""
        return _quotient(*(self._round_cpu_s(label, part, parts) for label in (strategy, other)))

    def _round_cpu_s(self, strategy: str, part: int, parts: int) -> float:
        duration_ms = self.group.manifest.duration_ms
        return fmean(
            step.cost.cpu_s
            for run in self.group.usable_runs_of(strategy)
            for step in run.of(CompactionRecord)
            if part * duration_ms < step.at_ms * parts <= (part + 1) * duration_ms
        )

    def planning_ms(self, strategy: str) -> str:
        """How many milliseconds of its mean primary query are planning."""
        planning_s = self.group.row(strategy).probes[self.group.manifest.primary_probe]["planning_mean_s"]
        return MISSING if planning_s is None else f"{planning_s * 1000:,.0f}"

    @property
    def has_maintenance(self) -> bool:
        return any(row.values["maintenance_cpu_s"] for row in self.group.rows)

    def probe(self, strategy: str, probe: str, figure: str, unit: Unit) -> str:
        """A figure of one query of a strategy (`Row.probes`), the mean over the runs, with its unit."""
        return format_value(unit, self.group.row(strategy).probes[probe][figure])

    @cached_property
    def partition_tables(self) -> tuple[str, ...]:
        tables = partition_tables(self.group)
        return tuple(f"{table.caption}:\n\n{as_markdown(table)}\n\n{table.note}" for table in tables)

    def pairs(self, simulated: "Published", strategy: str) -> tuple[Pair, ...]:
        """The evaluations of a measured run and of a simulated one, the first of each."""
        real, modelled = (group.usable_runs_of(strategy) for group in (self.group, simulated.group))
        # A scenario's hash changes with each new key, so it tells when runs were made and not whether they
        # replay one stream; the index says that these do.
        hashes = {name: getattr(real[0].manifest, name) for name in ("scenario_hash", "strategy_hash")}
        same = [replace(run, manifest=run.manifest.model_copy(update=hashes)) for run in modelled]
        return side_by_side([*real, *same])

    def agreement(self, simulated: "Published", strategy: str) -> Agreement:
        """How far a simulation made the decisions and files of a measured run."""
        pairs = self.pairs(simulated, strategy)
        compacted = _compacted(pairs)
        return Agreement(
            f"{sum(pair.same_decision for pair in pairs):,} of {len(pairs):,}",
            f"{sum(pair.same_partitions for pair in compacted):,} of {len(compacted):,}",
            f"{sum(pair.same_files for pair in compacted):,} of {len(compacted):,}",
        )

    def ratio(self, metric: str, strategy: str, other: str) -> str:
        """How the strategies compare: "3.1x (2.4 to 3.9)" with the 95 % interval, if there is one."""
        return ratio_text(self.compare(metric, strategy, other))

    def bare_ratio(self, metric: str, strategy: str, other: str) -> str:
        """How the strategies compare, without the interval."""
        comparison = self.compare(metric, strategy, other)
        return MISSING if comparison.ratio is None else human_ratio(comparison.ratio)

    def agrees(self, metric: str, strategy: str, other: str, published: tuple[str, str]) -> str:
        """Whether the ratio of two rounded figures, published by others, lies within our interval.

        "yes", "no", "depends on rounding", or a dash without an interval.
        """
        comparison = self.compare(metric, strategy, other)
        if comparison.low is None or comparison.high is None:
            return MISSING
        (low, high), (other_low, other_high) = map(_before_rounding, published)
        if comparison.low <= low / other_high and high / other_low <= comparison.high:
            return "yes"
        is_apart = high / other_low < comparison.low or low / other_high > comparison.high
        return "no" if is_apart else "depends on rounding"

    def over(self, measured: "Published", metric: str, strategy: str) -> str:
        """The mean of a strategy here over its mean in other runs: a simulation's over measured ones."""
        return _quotient(self._mean(metric, strategy), measured._mean(metric, strategy))

    def compare(self, metric: str, strategy: str, other: str) -> Comparison:
        """The comparison itself. Raises KeyError for a name that is not a metric."""
        return compare_strategies(self.group, metric, strategy, other)

    def _mean(self, metric: str, strategy: str) -> float | None:
        return self.group.row(strategy).values[metric]


def _before_rounding(figure: str) -> tuple[float, float]:
    """The range of values that are rounded to a figure: 0.65 and 0.75 for "0.7"."""
    number = Decimal(figure)
    half = Decimal((0, (5,), int(number.as_tuple().exponent) - 1))
    return float(number - half), float(number + half)


def _quotient(value: float | None, other: float | None) -> str:
    return human_ratio(value / other) if value is not None and other else MISSING


def _span_of(counts: Sequence[int]) -> str:
    """One number if all are equal, otherwise the lowest and the highest."""
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def entries() -> tuple[Entry, ...]:
    document = tomllib.loads((FOLDER / "index.toml").read_text(encoding="utf-8"))
    runs = document.get("runs", ())
    return tuple(
        Entry(
            run["name"],
            run["command"],
            tuple(run["claims"]),
            run.get("left_out", ""),
            run.get("earlier", ""),
            run.get("begun_by", ""),
            run.get("held_out", False),
            run.get("elsewhere", False),
        )
        for run in runs
    )


def pack(runs: Iterable[RunResult], archive: Path) -> None:
    """Write manifests and records of finished runs into an archive; the same runs give the same bytes.

    Runs that were replaced are packed too, and named on the pages; logs stay behind. Raises ValueError for a
    run that did not finish and was not made again, or was not made from a commit of this repository without
    local changes: its figures could not be repeated.
    """
    packed = tuple(runs)
    done = {run.repetition_key for run in packed if usable(run)}
    checked = tuple(_publishable(run, done) for run in packed)
    part = archive.with_suffix(".part")
    with tarfile.open(part, "w:xz", preset=9) as tar:
        for run in checked:
            tables = sorted((run.folder / EVENT_TABLES).glob("*"))
            named = (run.folder / name for name in (MANIFEST, EVENTS, REPLACED))
            for path in filter(Path.exists, (*named, *tables)):
                content = path.read_bytes()
                place = f"{run.manifest.scenario}/{run.manifest.run_id}/{path.relative_to(run.folder)}"
                info = tarfile.TarInfo(place)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    part.replace(archive)


def _publishable(run: RunResult, done: Collection[tuple[Path, str, int]]) -> RunResult:
    if not usable(run) and run.repetition_key not in done:
        raise ValueError(f"{run.folder}: has no figures and was not made again; repeat it (run --resume)")
    if run.manifest.git.get("dirty") is not False:
        raise ValueError(f"{run.folder}: was not made from a clean commit, so nobody can repeat it")
    return run


def unpack(archive: Path) -> tuple[RunResult, ...]:
    """The runs of an archive. Raises ResultSchemaError if one cannot be read."""
    with tempfile.TemporaryDirectory() as folder, tarfile.open(archive, "r:xz") as tar:
        tar.extractall(folder, filter="data")
        return load_runs(Path(folder))


@cache
def published(entry: Entry) -> Published:
    """The runs of an entry. Raises ValueError unless they are of one scenario, format and mode."""
    groups = run_groups(unpack(entry.archive))
    if len(groups) != 1:
        raise ValueError(f"{entry.archive}: holds runs of {len(groups)} scenarios; pack one at a time")
    return Published(entry, groups[0])


def pages(index: Sequence[Entry]) -> Mapping[Path, str]:
    """Each page and chart as it must be; of the README only the blocks are replaced."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, autoescape=False,  # noqa: S701 - Markdown of our own words
    )  # fmt: skip
    by_name = {entry.name.replace("-", "_"): published(entry) for entry in index}
    model_errors = json.loads((FOLDER / "model-errors.json").read_bytes())
    simulated_again = _simulated_again(by_name)
    compared_files = [pair for pair in simulated_again if not pair[1].entry.earlier]
    environment.globals |= {
        "simulated_again": simulated_again,
        "same_files": _same_files(compared_files),
        "compared_files": compared_files,
        "missing": {runs.entry.name: runs.missing for runs in by_name.values()},
        "model_errors": model_errors,
        "operation_errors": {name: of.engines.estimates().operation_errors for name, of in FORMATS.items()},
        "figure_errors": {name: of.engines.estimates().errors for name, of in FORMATS.items()},
        "needed_ratios": {name: _needed_ratios(name) for name in FORMATS},
        "model_off": {name: _model_off(model_errors, name) for name in FORMATS},
        "outside": json.loads((FOLDER / "outside-tables.json").read_bytes()),
        "executor_rounds": stored_rounds(),
        "regrets": stored_traffic(), "worst_regret": worst, "chosen_setting": chosen,
        "percent": human_percent,
        **{of.__name__: of for of in (judged, outcomes_of, reasons, commit_tail, query_tail, phase_effect)},
    }  # fmt: skip
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    groups = {name: runs.group for name, runs in by_name.items()}
    written = {DOCS / f"findings/{name}.svg": chart(groups) for name, chart in FINDING_CHARTS.items()}
    for path in sorted(FOLDER.rglob("*.md.j2")):
        name = path.relative_to(FOLDER).as_posix()
        text = environment.get_template(name).render(index=index, **by_name)
        if path.parent.name == "readme":
            readme = _with_block(readme, path.name.removesuffix(".md.j2"), text)
        else:
            written[DOCS / name.removesuffix(".j2")] = text
    return {ROOT / "README.md": readme, **written}


def _model_off(model_errors: Mapping[str, Any], table_format: str) -> Mapping[str, float]:
    """The mean absolute error of each modelled figure on streams that the coefficients were not fitted to."""
    return {
        one["metric"]: one["mean_absolute"]
        for one in model_errors["unseen"]["figures"]
        if one["format"] == table_format
    }


def _compacted(pairs: Iterable[Pair]) -> list[Pair]:
    """Those of which one run or both compacted."""
    return [pair for pair in pairs if any(pair.compactions)]


def _simulated_again(by_name: Mapping[str, Published]) -> list[tuple[Published, Published]]:
    """The measured runs of roles that take turns, and their simulations, where these are published."""
    return [
        (real, simulated)
        for name, real in by_name.items()
        if (simulated := by_name.get(f"{name}_simulated")) and not real.group.manifest.is_live
    ]


def _same_files(pairs: Iterable[tuple[Published, Published]]) -> Mapping[str, str]:
    """By workload, how many compactions have the same files in the simulation: "3 of 4"."""
    found: dict[str, list[bool]] = {}
    for real, simulated in pairs:
        found.setdefault(real.group.manifest.workload, []).extend(
            pair.same_files
            for label in simulated.strategies
            if label in real.strategies
            for pair in _compacted(real.pairs(simulated, label))
        )
    return {workload: f"{sum(same)} of {len(same)}" for workload, same in found.items()}


def _needed_ratios(table_format: str) -> Mapping[str, float]:
    """By figure, how far two simulated strategies of a stream have to be apart for a verdict."""
    errors = FORMATS[table_format].engines.estimates().errors
    return {
        figure: math.exp(TWO_SIDED * widening(error.ratio_streams) * error.ratio_log_sd)
        for figure, error in errors.items()
        if error.ratio_log_sd is not None and error.ratio_streams
    }


def write_pages() -> tuple[Path, ...]:
    written = pages(entries())
    for path, text in written.items():
        path.write_text(text, encoding="utf-8")
    return tuple(written)


def write_example() -> Path:
    """Write the checked-in report from the published runs of its scenario; returns its page.

    It is dated by the last of these, so that the same runs give the same page.
    """
    (entry,) = (entry for entry in entries() if entry.name == EXAMPLE.name)
    runs = unpack(entry.archive)
    return render(runs, EXAMPLE, max(datetime.fromisoformat(run.manifest.started_utc) for run in runs))


def _with_block(readme: str, name: str, text: str) -> str:
    """The README with the block of this name replaced."""
    begin, end = BEGIN.format(name), END.format(name)
    before, _, rest = readme.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{text}{end}{after}"


def _number(value: float, decimals: int | None) -> str:
    digits = shared_decimals([value]) if decimals is None else decimals
    return f"{value:,.{digits}f}"


def main() -> None:
    """Pack the runs of some folders under a name, which the index must list."""
    name, *folders = sys.argv[1:]
    archive = FOLDER / f"{name}.tar.xz"
    pack(load_runs(*map(Path, folders)), archive)
    print(f"{archive}: {archive.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
