"""`compactbench clean`: what runs left behind."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from bench import runtime
from bench.cli.commands.run import DEFAULT_OUT
from bench.cli.output import OUT
from bench.runs.suite import TABLES, WORK, locked
from bench.text import human_bytes


def clean(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The results folder.")] = DEFAULT_OUT,
    cache: Annotated[bool, typer.Option("--cache", help="Also the cached change logs and jars.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
) -> None:
    """Remove leftover tables: of suites that died, and those kept by `--keep-tables`. Results stay.

    * `compactbench clean --out results --dry-run`

    * `compactbench clean --cache`
    """
    found: list[Path] = []
    if out.is_dir():
        with locked(out, sweep=False):
            found = _remove([out / WORK, *sorted(out.glob(f"*/*/{TABLES}"))], dry_run=dry_run)
    if cache:
        kept = [runtime.cache_folder() / name for name in ("change_logs", "jars")]
        found += _remove(kept, dry_run=dry_run)
    if not found:
        OUT.print(f"nothing to remove in {out}", markup=False, highlight=False, soft_wrap=True)


def _remove(folders: list[Path], *, dry_run: bool) -> list[Path]:
    """Remove those of the folders that are there; which they were."""
    found = [folder for folder in folders if folder.is_dir()]
    for folder in found:
        size = human_bytes(sum(_sizes(folder)))
        if not dry_run:
            shutil.rmtree(folder)
        verb = "would remove" if dry_run else "removed"
        OUT.print(f"{verb} {folder} ({size})", markup=False, highlight=False, soft_wrap=True)
    return found


def _sizes(folder: Path) -> Iterator[int]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.stat().st_size
