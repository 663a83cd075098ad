"""`compactbench clean`: remove what runs left behind."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from bench.cli.output import conceal, print_line
from bench.cli.results_argument import DEFAULT_OUT, readable_runs
from bench.engines import runtime
from bench.engines.keys import flat
from bench.errors import EngineError, ScenarioError
from bench.results.folders import RunResult, is_run_folder
from bench.results.records import MANIFEST
from bench.runs.settings import NAMESPACE_NOTES, STAGING_NOTES
from bench.runs.suite.cases import Source
from bench.runs.suite.dropping import drop_left_by, folders_of_tables, left_by
from bench.runs.suite.results_folder import LOCK, WORK, locked
from bench.scenario.load import load_scenario
from bench.scenario.scenario import Scenario
from bench.text import human_bytes

# Prefixes of the keys that say where tables and staged files are.
_PLACES = (
    "catalog.", "spark.staging",
    "spark.spark.sql.catalog.", "spark.spark.sql.warehouse.dir", "spark.spark.hadoop.",
)  # fmt: skip


def clean(
    results: Annotated[
        Path,
        typer.Argument(metavar="RESULTS", help="The results folder to clean."),
    ] = DEFAULT_OUT,
    cache: Annotated[
        bool, typer.Option("--cache", help="Also remove the cached change logs and jars.")
    ] = False,
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            "--scenario",
            metavar="NAME|FILE",
            help="A scenario whose runs left tables in your own catalog: drop those too. It says where the "
            "catalog is.",
        ),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set a key of the scenario, as for `run`."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be removed.")] = False,
) -> None:
    """Remove tables that interrupted runs left behind or `--keep-tables` kept. Results are never removed.

    In your own catalog only what runs in RESULTS have noted is dropped: the table `orders` of each run and
    its namespace.

    * `compactbench clean --dry-run`

    * `compactbench clean results/today`

    * `compactbench clean results/today --scenario my-lake.toml`

    * `compactbench clean --cache`
    """
    sources = [
        Source(name, tuple(overrides or ()), load_scenario(name, overrides or ())) for name in scenario or ()
    ]
    for source in sources:
        conceal(source.scenario.secrets)
    removed: list[Path] = []
    if (results / LOCK).exists() or _has_runs(results):
        with locked(results, sweep=False):
            removed = _clean(results, {source.scenario.name: source for source in sources}, dry_run=dry_run)
    if cache:
        cached = [runtime.cache_folder() / name for name in ("change_logs", "jars")]
        removed += _remove(cached, dry_run=dry_run)
    if not removed:
        is_there = "" if results.is_dir() else ", which is not a folder"
        print_line(f"nothing to remove in {results}{is_there}")


def _has_runs(results: Path) -> bool:
    """Whether any run is in the folder. A suite locks it; a copy of its runs alone has no lock."""
    return any(is_run_folder(manifest.parent) for manifest in results.glob(f"*/*/{MANIFEST}"))


def _clean(results: Path, by_name: Mapping[str, Source], *, dry_run: bool) -> list[Path]:
    """Remove what runs have left, or only print it; the folders of which something is removed.

    The folder of a run's kept tables goes last: while it is there, `--resume` does not drop those in a
    catalog. Raises ScenarioError, before anything is removed, for a run whose scenario is not given, and
    EngineError, after all others were tried, for what could not be dropped.
    """
    with _runs_to_drop(results) as runs:
        if not dry_run:
            for run in runs:
                _check_droppable(run, by_name)
        removed = _remove([results / WORK], dry_run=dry_run)
        problems = list(_drop(runs, results, by_name, dry_run=dry_run))
        tables = [folder for folder in folders_of_tables(results) if is_run_folder(folder.parent)]
        tables = [folder for folder in tables if dry_run or not left_by(folder.parent)]
        removed += _remove(tables, dry_run=dry_run)
        if problems:
            raise EngineError("\n".join(problems))
    return [*removed, *(run.folder for run in runs)]


@contextmanager
def _runs_to_drop(results: Path) -> Iterator[Sequence[RunResult]]:
    """The runs that have left something outside the results folder; see `readable_runs`."""
    if not _has_left(results):
        yield ()
        return
    with readable_runs([results]) as readable:
        yield [run for run in readable if left_by(run.folder)]


def _drop(
    runs: Sequence[RunResult], results: Path, by_name: Mapping[str, Source], *, dry_run: bool
) -> Iterator[str]:
    """Why each was not dropped that could not be."""
    for run in runs:
        left = ", ".join(left_by(run.folder))
        if dry_run:
            print_line(f"would drop {left} (of {run.folder})")
            continue
        work_folder = results / WORK / f"drop-{run.folder.name}"
        try:
            drop_left_by(run, by_name[run.manifest.scenario], work_folder.absolute())
        except EngineError as error:
            yield str(error)
        else:
            print_line(f"dropped {left} (of {run.folder})")


def _check_droppable(run: RunResult, by_name: Mapping[str, Source]) -> None:
    """Raises ScenarioError unless the run's scenario is given, with the places it was made with."""
    left, name = ", ".join(left_by(run.folder)), run.manifest.scenario
    if name not in by_name:
        raise ScenarioError(
            f"{run.folder}: has left {left} in the catalog or the staging folder of scenario {name}: add "
            "--scenario with its name or file, which says where these are"
        )
    _check_same_places(run, by_name[name].scenario.in_variant(run.manifest.variant_label))


def _check_same_places(run: RunResult, scenario: Scenario) -> None:
    """Raises ScenarioError if a scenario says otherwise than that of a run where its tables are.

    Elsewhere none would be found, and what the run has noted would be crossed out for nothing.
    """
    then, now = _places(run.manifest.scenario_text), _places(scenario.secrets.clean(scenario.resolved))
    differing = sorted(key for key in {*then, *now} if then.get(key) != now.get(key))
    if differing:
        key = differing[0]
        raise ScenarioError(
            f"{run.folder}: was made with {key} = {then.get(key)!r}, but with --scenario and --set it is "
            f"{now.get(key)!r}: give what the run was made with, so that its own tables are found"
        )


def _places(text: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a resolved scenario that say where tables and staged files are."""
    parts = {name: part for name in ("catalog", "spark") if isinstance(part := text.get(name), dict)}
    return {key: value for key, value in flat(parts).items() if key.startswith(_PLACES)}


def _has_left(results: Path) -> bool:
    return any(file for kind in (NAMESPACE_NOTES, STAGING_NOTES) for file in results.glob(f"*/*/{kind}/*"))


def _remove(folders: list[Path], *, dry_run: bool) -> list[Path]:
    """Remove the folders that exist, or only print them; returns those that exist. Links stay."""
    existing = [folder for folder in folders if folder.is_dir() and not folder.is_symlink()]
    for folder in existing:
        size = human_bytes(sum(_sizes(folder)))
        if not dry_run:
            shutil.rmtree(folder)
        verb = "would remove" if dry_run else "removed"
        print_line(f"{verb} {folder} ({size})")
    return existing


def _sizes(folder: Path) -> Iterator[int]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.stat().st_size
