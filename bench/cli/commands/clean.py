"""`compactbench clean`: remove what runs left behind."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from bench import runtime
from bench.cli.output import conceal, print_line
from bench.cli.results_argument import DEFAULT_OUT
from bench.errors import ScenarioError
from bench.results.folders import stored_runs
from bench.results.records import MANIFEST
from bench.runs.cases import Source
from bench.runs.dropping import drop_left_by, left_by
from bench.runs.settings import NAMESPACES
from bench.runs.suite import TABLES, WORK, locked
from bench.scenario.scenario import load_scenario
from bench.text import human_bytes


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
            help="A scenario whose runs left tables in a catalog of one's own: drop those too. It says where "
            "the catalog is.",
        ),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set a key of the scenario, as for `run`."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be removed.")] = False,
) -> None:
    """Remove tables that interrupted runs left behind or `--keep-tables` kept. Results are never removed.

    In a catalog of one's own only what runs in RESULTS have noted is dropped: the table `orders` of each run
    and its namespace.

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
    if results.is_dir():
        with locked(results, sweep=False):
            removed = _remove([results / WORK, *_tables_of_runs(results)], dry_run=dry_run)
            removed += _drop(results, sources, dry_run=dry_run)
    if cache:
        cached = [runtime.cache_folder() / name for name in ("change_logs", "jars")]
        removed += _remove(cached, dry_run=dry_run)
    if not removed:
        print_line(f"nothing to remove in {results}")


def _drop(results: Path, sources: Sequence[Source], *, dry_run: bool) -> list[Path]:
    """Drop what runs have left in shared catalogs, or only print it; the folders of these runs.

    Raises ScenarioError for a run whose scenario is not given.
    """
    by_name = {source.scenario.name: source for source in sources}
    runs = [run for run in stored_runs(results).runs if left_by(run.folder)] if _has_left(results) else []
    for run in runs:
        namespaces, name = ", ".join(left_by(run.folder)), run.manifest.scenario
        if dry_run:
            print_line(f"would drop {namespaces} (of {run.folder})")
            continue
        if name not in by_name:
            raise ScenarioError(
                f"{run.folder}: has tables in {namespaces} of the catalog of scenario {name}: add --scenario "
                "with its name or file, which says where the catalog is"
            )
        variant, work_folder = run.manifest.variant_label, results / WORK / f"drop-{run.folder.name}"
        drop_left_by(run.folder, variant, by_name[name], work_folder.absolute())
        print_line(f"dropped {namespaces} (of {run.folder})")
    return [run.folder for run in runs]


def _has_left(results: Path) -> bool:
    return any(results.glob(f"*/*/{NAMESPACES}/*"))


def _tables_of_runs(results: Path) -> list[Path]:
    """The folders of kept tables. A report has a folder of that name too, but no manifest beside it."""
    return sorted(folder for folder in results.glob(f"*/*/{TABLES}") if (folder.parent / MANIFEST).is_file())


def _remove(folders: list[Path], *, dry_run: bool) -> list[Path]:
    """Remove the folders that exist, or only print them; returns those that exist."""
    existing = [folder for folder in folders if folder.is_dir()]
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
