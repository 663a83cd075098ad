"""Reading result folders, the only interface between runs and reports."""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from bench.errors import ResultSchemaError, first_error
from bench.results.landing import landed
from bench.results.records import (
    EVENTS,
    MANIFEST,
    SCHEMA_VERSION,
    BaseRecord,
    Manifest,
    RunRecord,
    parse_record,
)

_R = TypeVar("_R", bound=BaseRecord)
_RESTORE = "restore the file or delete its run folder"
_LEVELS = 2  # of a result folder: scenarios, and the runs in each


@dataclass(frozen=True, slots=True)
class RunResult:
    """One stored run: its folder, its manifest and its records in order."""

    folder: Path
    manifest: Manifest
    records: tuple[Any, ...]

    def of(self, kind: type[_R]) -> tuple[_R, ...]:
        """The records of one kind, in order."""
        return tuple(r for r in self.records if isinstance(r, kind))

    @property
    def end(self) -> RunRecord | None:
        """The closing record; None when the run was interrupted."""
        last = self.records[-1] if self.records else None
        return last if isinstance(last, RunRecord) else None

    @property
    def finished(self) -> bool:
        """Whether it ran to its end without failing."""
        return self.end is not None and self.end.status == "finished"


@dataclass(frozen=True, slots=True)
class StoredRuns:
    """The runs that can be read, ordered by run id, and why others cannot."""

    runs: tuple[RunResult, ...]
    damages: tuple[ResultSchemaError, ...] = ()


def load_runs(*folders: Path) -> tuple[RunResult, ...]:
    """Every run below `folders` (a result folder, a scenario's or a run's), ordered by run id.

    Raises ResultSchemaError if there is none or one cannot be read.
    """
    stored = stored_runs(*folders)
    if stored.damages:
        raise stored.damages[0]
    return stored.runs


def stored_runs(*folders: Path) -> StoredRuns:
    """The same, leaving out the runs that cannot be read.

    Raises ResultSchemaError if there is no other.
    """
    by_folder: dict[Path, RunResult] = {}
    damages: dict[Path, ResultSchemaError] = {}
    for folder in folders:
        if not folder.is_dir():
            raise ResultSchemaError(
                f"{folder}: no such folder; name one that `compactbench run` wrote (by default results)"
            )
        unreadable: list[OSError] = []
        run_folders = sorted(_run_folders(folder, unreadable.append))
        damages |= {Path(error.filename).resolve(): _unlisted(error) for error in unreadable}
        if not run_folders and not unreadable:
            raise ResultSchemaError(f"{folder}: contains no runs{_elsewhere(folder)}")
        for path in run_folders:
            try:
                run = load_run(path)
            except ResultSchemaError as error:
                damages[path.resolve()] = error
            else:
                by_folder[run.folder.resolve()] = run
    if not by_folder:
        raise ResultSchemaError("\n".join(map(str, damages.values())))
    _check_no_copies(by_folder.values())
    ordered = sorted(by_folder.values(), key=lambda run: (run.manifest.scenario, run.manifest.run_id))
    return StoredRuns(tuple(ordered), tuple(damages.values()))


def _run_folders(folder: Path, on_error: Callable[[OSError], None]) -> Iterator[Path]:
    """`folder` and those at most two levels below it that have a manifest, or a folder in its place."""
    for place, folders, files in os.walk(folder, onerror=on_error, followlinks=True):
        if MANIFEST in (*folders, *files):
            yield Path(place)
        if len(Path(place).relative_to(folder).parts) == _LEVELS:
            folders.clear()


def _elsewhere(folder: Path) -> str:
    """What to do about a folder without runs: name the results folders in it, if there are any."""
    nested = sorted({str(path.parents[2]) for path in folder.glob(f"*/*/*/{MANIFEST}")})
    if nested:
        return f" itself; results folders in it: {', '.join(nested)}; name one of them"
    return f"; create some with `compactbench run SCENARIO --out {folder}`"


def _check_no_copies(runs: Iterable[RunResult]) -> None:
    """A run counts once: a copy beside it would look like a repetition."""
    known: dict[tuple[str | int, ...], RunResult] = {}
    for run in runs:
        m = run.manifest
        made = (m.scenario, m.mode, m.suite_id, m.run_id, m.strategy, m.repetition)
        first = known.setdefault(made, run)
        if first is not run:
            raise ResultSchemaError(
                f"{first.folder} and {run.folder}: are copies of one run, which would count twice; remove or "
                "leave out one of them"
            )


def is_run_folder(folder: Path) -> bool:
    """Whether it has the manifest of a run."""
    try:
        _load_manifest(folder / MANIFEST)
    except ResultSchemaError:
        return False
    return True


def load_run(folder: Path) -> RunResult:
    """One run. An incomplete last line, as a killed worker leaves it, is dropped; other damage raises.

    Compactions beside the stream are dated by their effect (`landed`).
    """
    manifest = _load_manifest(folder / MANIFEST)
    return RunResult(folder, manifest, landed(list(_load_records(folder / EVENTS))))


def _load_manifest(path: Path) -> Manifest:
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text)
        version = content.get("schema_version") if isinstance(content, dict) else SCHEMA_VERSION
        if version != SCHEMA_VERSION:
            raise ResultSchemaError(
                f"{path}: schema_version {version!r}, but this compactbench reads {SCHEMA_VERSION}; "
                f"read it with the version that wrote it{_writer(content)}"
            )
        return Manifest.model_validate_json(text)
    except OSError as error:
        raise _unreadable(path, error) from error
    except ValueError as error:  # neither JSON nor a manifest
        raise ResultSchemaError(f"{path}: {first_error(error)}; {_RESTORE}") from error


def _writer(manifest: Any) -> str:
    """The version and the commit of compactbench that wrote a manifest, as far as it names them."""
    if not isinstance(manifest, dict):
        return ""
    versions, git = (manifest.get(name) or {} for name in ("versions", "git"))
    version, commit = versions.get("compactbench"), git.get("commit")
    return f", {version}{f' at commit {commit}' if commit else ''}" if version else ""


def _load_records(path: Path) -> Iterator[Any]:
    try:
        lines = path.read_bytes().split(b"\n") if path.exists() else []
    except OSError as error:
        raise _unreadable(path, error) from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield parse_record(line)
        except ValueError as error:
            if number == len(lines):  # without a newline: the writer was killed while writing it
                return
            raise ResultSchemaError(
                f"{path}, line {number}: damaged record ({first_error(error)}); restore the file, or "
                "delete the run folder and repeat the run with `run --resume`"
            ) from error


def _unlisted(error: OSError) -> ResultSchemaError:
    return ResultSchemaError(
        f"{error.filename}: cannot be listed ({error.strerror}), so runs in it may be missing; make it "
        "readable"
    )


def _unreadable(path: Path, error: OSError) -> ResultSchemaError:
    return ResultSchemaError(f"{path}: cannot be read ({error.strerror}); {_RESTORE}")
