"""`compactbench clean`: remove what runs left behind."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from bench import runtime
from bench.cli.output import print_line
from bench.cli.results_argument import DEFAULT_OUT
from bench.results.records import MANIFEST
from bench.runs.suite import TABLES, WORK, locked
from bench.text import human_bytes


def clean(
    results: Annotated[
        Path,
        typer.Argument(metavar="RESULTS", help="The results folder to clean."),
    ] = DEFAULT_OUT,
    cache: Annotated[
        bool, typer.Option("--cache", help="Also remove the cached change logs and jars.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be removed.")] = False,
) -> None:
    """Remove tables that interrupted runs left behind or `--keep-tables` kept. Results are never removed.

    * `compactbench clean --dry-run`

    * `compactbench clean results/today`

    * `compactbench clean --cache`
    """
    removed: list[Path] = []
    if results.is_dir():
        with locked(results, sweep=False):
            removed = _remove([results / WORK, *_tables_of_runs(results)], dry_run=dry_run)
    if cache:
        cached = [runtime.cache_folder() / name for name in ("change_logs", "jars")]
        removed += _remove(cached, dry_run=dry_run)
    if not removed:
        print_line(f"nothing to remove in {results}")


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
