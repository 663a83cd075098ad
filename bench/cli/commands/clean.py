"""`compactbench clean`: remove what runs left behind."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from bench.cli.arguments import DEFAULT_OUT, SetOption, readable_runs
from bench.cli.output import conceal, print_line
from bench.engines import runtime
from bench.engines.keys import flat
from bench.errors import EngineError, ScenarioError
from bench.results.folders import RunResult, is_run_folder
from bench.results.records import MANIFEST
from bench.runs.preflight.places import forget, tries_with_notes
from bench.runs.settings import NAMESPACE_NOTES, STAGING_NOTES
from bench.runs.suite.dropping import drop_left_by, drop_noted, folders_of_tables, left_by
from bench.runs.suite.results_folder import LOCK, WORK, locked
from bench.scenario.load import load_scenario
from bench.scenario.scenario import Scenario
from bench.text import human_bytes

# Prefixes of the keys of places of tables and staged files.
_PLACES = (
    "catalog.", "spark.staging",
    "spark.spark.sql.catalog.", "spark.spark.sql.warehouse.dir", "spark.spark.hadoop.",
)  # fmt: skip


def clean(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="The results folder to clean.")
    ] = DEFAULT_OUT,
    cache: Annotated[
        bool, typer.Option("--cache", help="Also remove the cached change logs and jars.")
    ] = False,
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Also drop the tables that runs of this scenario left in its own catalog.",
        ),
    ] = None,
    overrides: SetOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be removed.")] = False,
) -> None:
    """Remove tables that interrupted runs left behind or `--keep-tables` kept. Results are never removed.

    In your own catalog, only the namespaces that runs in RESULTS created for themselves are dropped, with
    their table `orders`.

    * `compactbench clean --dry-run`

    * `compactbench clean results/today`

    * `compactbench clean results/today --scenario my-lake.toml`

    * `compactbench clean --cache`
    """
    by_name: dict[str, Scenario] = {}
    for name_or_path in scenario or ():
        loaded = load_scenario(name_or_path, overrides or ())
        conceal(loaded.secrets)
        by_name[loaded.name] = loaded
    removed: list[Path] = []
    # Copied runs have no lock file next to them.
    has_runs = any(is_run_folder(path.parent) for path in results.glob(f"*/*/{MANIFEST}"))
    if has_runs or (results / LOCK).exists():
        with locked(results, sweep=False):
            removed = _clean(results, by_name, dry_run=dry_run)
    if cache:
        cached = [runtime.cache_folder() / name for name in ("change_logs", "jars")]
        removed += _remove(cached, dry_run=dry_run)
    if not removed:
        hint = "" if results.is_dir() else ", which is not a folder"
        print_line(f"nothing to remove in {results}{hint}")


def _clean(results: Path, by_name: Mapping[str, Scenario], *, dry_run: bool) -> list[Path]:
    """Remove, or only print, what runs have left; returns the affected folders.

    A run's folder of kept tables is removed last: while it exists, `--resume` keeps the run's tables in a
    catalog. Raises ScenarioError, before anything is removed, if the scenario of a run is not named, and
    EngineError, at the end, for tables that could not be dropped.
    """
    with _runs_to_drop(results) as runs:
        leftovers = [
            *(_Leftover(run.folder, run.manifest.scenario, run.manifest.variant_label, run) for run in runs),
            *(_Leftover(*noted) for noted in tries_with_notes(results)),
        ]
        if not dry_run:
            for leftover in leftovers:
                _check_droppable(leftover, by_name)
        removed = _remove([results / WORK], dry_run=dry_run)
        problems = list(_drop(leftovers, results, by_name, dry_run=dry_run))
        tables = [folder for folder in folders_of_tables(results) if is_run_folder(folder.parent)]
        tables = [folder for folder in tables if dry_run or not left_by(folder.parent)]
        removed += _remove(tables, dry_run=dry_run)
        if problems:
            raise EngineError("\n".join(problems), code="not-dropped")
    return [*removed, *(leftover.folder for leftover in leftovers)]


@dataclass(frozen=True, slots=True)
class _Leftover:
    """A folder with notes of tables or staged files, of a run or of the trial table of its preflight."""

    folder: Path
    scenario: str
    variant: str | None
    run: RunResult | None = None


@contextmanager
def _runs_to_drop(results: Path) -> Iterator[Sequence[RunResult]]:
    """The `readable_runs` with tables or files outside of the results folder."""
    if not any(file for kind in (NAMESPACE_NOTES, STAGING_NOTES) for file in results.glob(f"*/*/{kind}/*")):
        yield ()
        return
    with readable_runs([results]) as readable:
        yield [run for run in readable if left_by(run.folder)]


def _drop(
    leftovers: Sequence[_Leftover], results: Path, by_name: Mapping[str, Scenario], *, dry_run: bool
) -> Iterator[str]:
    """Drop what is noted in each folder; yields the problems."""
    for leftover in leftovers:
        folder, names = leftover.folder, ", ".join(left_by(leftover.folder))
        if dry_run:
            print_line(f"would drop {names} (of {folder})")
            continue
        named, work_folder = by_name[leftover.scenario], (results / WORK / f"drop-{folder.name}").absolute()
        try:
            if leftover.run is None:
                drop_noted(folder, named.in_variant(leftover.variant), work_folder)
                forget(folder)
            else:
                drop_left_by(leftover.run, named, work_folder)
        except EngineError as error:
            yield str(error)
        else:
            print_line(f"dropped {names} (of {folder})")


def _check_droppable(leftover: _Leftover, by_name: Mapping[str, Scenario]) -> None:
    """Raises ScenarioError unless the scenario is named, with the catalog that the run used."""
    if leftover.scenario not in by_name:
        raise ScenarioError(
            f"has left {', '.join(left_by(leftover.folder))} in the catalog or staging folder of scenario "
            f"{leftover.scenario}: add --scenario with the name or file of that scenario",
            code="key-missing",
            path=leftover.folder,
        )
    if leftover.run is None:
        return
    # In another catalog or staging folder no tables would be found, and their notes would be deleted.
    scenario = by_name[leftover.scenario].in_variant(leftover.variant)
    then = _places(leftover.run.manifest.scenario_text)
    now = _places(scenario.secrets.clean(scenario.resolved))
    differing = sorted(key for key in {*then, *now} if then.get(key) != now.get(key))
    if differing:
        key = differing[0]
        raise ScenarioError(
            f"the run had {key} = {then.get(key)!r}, but with --scenario and --set it is {now.get(key)!r}: "
            "repeat the settings of the run",
            code="mixed-runs",
            path=leftover.folder,
        )


def _places(text: Mapping[str, Any]) -> dict[str, Any]:
    parts = {name: part for name in ("catalog", "spark") if isinstance(part := text.get(name), dict)}
    return {key: value for key, value in flat(parts).items() if key.startswith(_PLACES)}


def _remove(folders: list[Path], *, dry_run: bool) -> list[Path]:
    """Remove the folders that exist and are no links, or only print them; returns them."""
    existing = [folder for folder in folders if folder.is_dir() and not folder.is_symlink()]
    for folder in existing:
        size = human_bytes(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()))
        if not dry_run:
            shutil.rmtree(folder)
        print_line(f"{'would remove' if dry_run else 'removed'} {folder} ({size})")
    return existing
