"""Reading result folders, the only interface between runs and reports."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from bench.errors import ResultSchemaError, first_error
from bench.results.column_files import damaged, file_of, read_ends, read_records
from bench.results.order import checksum, disorder
from bench.results.records import (
    EVENT_TABLES,
    EVENTS,
    MANIFEST,
    READ_VERSIONS,
    REPLACED,
    SCHEMA_VERSION,
    BaseRecord,
    Manifest,
    RunRecord,
    parse_record,
)
from bench.results.tables import Records, RunRecords
from bench.text import named_once

_R = TypeVar("_R", bound=BaseRecord)
_Series = tuple[Path, str]
_RESTORE = "restore the file or delete its run folder"
_REPEAT = "restore the file, or delete the run folder and repeat the run with `run --resume`"
_OTHER_RECORDS = "the records are not the ones that this run wrote"
_LEVELS = 2  # folders of scenarios in a result folder, and of runs in each


@dataclass(frozen=True, slots=True)
class RunResult:
    """One stored run: its folder, its manifest and its records in order.

    `replaced` is why it was made again, so that its figures are not used; None if it was not. `missing` are
    the positions of runs that were made into the same results folder and are not there any more.
    """

    folder: Path
    manifest: Manifest
    records: RunRecords
    replaced: str | None = None
    missing: tuple[int, ...] = ()

    def of(self, kind: type[_R]) -> Records[_R]:
        return self.records.of(kind)

    @property
    def repetition_key(self) -> tuple[Path, str, int]:
        """Its identity among repetitions: a failed or replaced run may be made again in the same folder."""
        return self.folder.parent, self.manifest.strategy, self.manifest.repetition

    @property
    def end(self) -> RunRecord | None:
        """The closing record; None if the run was interrupted."""
        last = self.records.last
        return last if isinstance(last, RunRecord) else None

    @property
    def finished(self) -> bool:
        return self.end is not None and self.end.status == "finished"


@dataclass(frozen=True, slots=True)
class StoredRuns:
    """The runs that can be read, ordered by scenario and run id, and why others cannot be read."""

    runs: tuple[RunResult, ...]
    damages: tuple[ResultSchemaError, ...]


def load_runs(*folders: Path) -> tuple[RunResult, ...]:
    """Every run below `folders` (of results, a scenario or a run), ordered by scenario and run id.

    Raises ResultSchemaError if there is no run, or if one cannot be read.
    """
    stored = stored_runs(*folders)
    if stored.damages:
        raise stored.damages[0]
    return stored.runs


def stored_runs(*folders: Path) -> StoredRuns:
    """Every run below `folders` that can be read. Raises ResultSchemaError if there is none."""
    by_folder: dict[Path, RunResult] = {}
    damages: dict[Path, ResultSchemaError] = {}
    for folder in folders:
        if not folder.is_dir():
            problem = "no such folder; name one that `compactbench run` wrote (by default results)"
            raise ResultSchemaError(problem, code="no-such-folder", path=folder)
        unlisted: list[OSError] = []
        run_folders = sorted(_run_folders(folder, unlisted))
        damages |= {Path(error.filename).resolve(): _unlisted(error) for error in unlisted}
        if not run_folders and not unlisted:
            raise ResultSchemaError(f"contains no runs{_elsewhere(folder)}", code="no-runs", path=folder)
        for path in run_folders:
            try:
                by_folder[path.resolve()] = load_run(path)
            except ResultSchemaError as error:
                damages[path.resolve()] = error
    if not by_folder:
        raise next(iter(damages.values()))
    _check_no_copies(by_folder.values())
    named = {folder.resolve() for folder in folders}  # a run may be named without the others of its suite
    missing = _missing_positions(
        by_folder.values(), {_series(r) for p, r in by_folder.items() if p not in named}
    )
    runs = (replace(run, missing=missing.get(_series(run), ())) for run in by_folder.values())
    ordered = sorted(runs, key=lambda run: (run.manifest.scenario, run.manifest.run_id))
    return StoredRuns(tuple(ordered), tuple(damages.values()))


def missing_positions(runs: Iterable[RunResult]) -> tuple[tuple[Path, tuple[int, ...]], ...]:
    """The positions of runs that are no longer in the folder of their scenario, by folder."""
    by_series = {_series(run): run.missing for run in runs}
    return tuple((folder, missing) for (folder, _), missing in by_series.items() if missing)


def _series(run: RunResult) -> _Series:
    """Folder and mode: runs whose positions are counted together."""
    return run.folder.parent, run.manifest.mode


def _missing_positions(runs: Iterable[RunResult], whole: Iterable[_Series]) -> dict[_Series, tuple[int, ...]]:
    """Of each series, the positions below the highest one that no run has."""
    present: dict[_Series, set[int]] = {series: set() for series in whole}
    for run in runs:
        if _series(run) in present:
            present[_series(run)].add(run.manifest.position)
    return {series: tuple(sorted({*range(max(known))} - known)) for series, known in present.items()}


def _run_folders(folder: Path, unlisted: list[OSError]) -> Iterator[Path]:
    """`folder` and the folders up to two levels below it that have a manifest or records.

    Records without a manifest are a damaged run, which is reported and not passed over.
    """
    for place, subfolders, files in os.walk(folder, onerror=unlisted.append, followlinks=True):
        if not {MANIFEST, EVENTS, EVENT_TABLES}.isdisjoint((*subfolders, *files)):
            yield Path(place)
        if len(Path(place).relative_to(folder).parts) == _LEVELS:
            subfolders.clear()


def nested_folders(folder: Path) -> tuple[Path, ...]:
    """Results folders in `folder`, whose runs are too deep to be read with it."""
    return tuple(sorted({path.parents[2] for path in folder.glob(f"*/*/*/{MANIFEST}")}))


def _elsewhere(folder: Path) -> str:
    """The remedy for a folder without runs, which names the results folders in it."""
    nested = nested_folders(folder)
    if nested:
        return f" itself; results folders in it: {', '.join(map(str, nested))}; name one of them"
    return f"; create some with `compactbench run SCENARIO --out {folder}`"


def _check_no_copies(runs: Iterable[RunResult]) -> None:
    """Raises ResultSchemaError for a copy of a run, which would count as a repetition."""
    known: dict[tuple[str | int, ...], RunResult] = {}
    for run in runs:
        m = run.manifest
        identity = (m.scenario, m.mode, m.suite_id, m.run_id, m.strategy, m.repetition)
        first = known.setdefault(identity, run)
        if first is not run:
            raise ResultSchemaError(
                f"is a copy of the run {first.folder} and would count twice; remove or leave out one of them",
                code="copied-run",
                path=run.folder,
            )


def is_run_folder(folder: Path) -> bool:
    try:
        _load_manifest(folder / MANIFEST)
    except ResultSchemaError:
        return False
    return True


def load_run(folder: Path) -> RunResult:
    """One run. An incomplete last line, as a killed worker leaves it, is dropped; other damage raises."""
    manifest = _load_manifest(folder / MANIFEST)
    if manifest.options.get("shared_jvm"):
        raise ResultSchemaError(
            "was made with `run --quick` of an earlier version, so its timings do not compare with those "
            "of other runs: make it again, for a first look with --repetitions 1",
            code="shared-jvm",
            path=folder / MANIFEST,
        )
    tables = folder / EVENT_TABLES
    records = _tables(tables, manifest) if tables.is_dir() else _lines(folder / EVENTS, manifest)
    return RunResult(folder, manifest, records, _replaced(folder / REPLACED))


def load_end(folder: Path) -> RunResult:
    """One run with its closing record alone, or without a record if it has none."""
    tables = folder / EVENT_TABLES
    ends = read_ends(tables) if tables.is_dir() else _last_line(folder / EVENTS)
    return RunResult(folder, _load_manifest(folder / MANIFEST), RunRecords.listed(ends))


def _last_line(path: Path) -> list[RunRecord]:
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    if not lines or not lines[-1].endswith(b"\n"):
        return []
    try:
        last = parse_record(lines[-1])
    except ValueError as error:
        raise _damaged(path, len(lines), first_error(error)) from error
    return [last] if isinstance(last, RunRecord) else []


def _tables(folder: Path, manifest: Manifest) -> RunRecords:
    try:
        records = read_records(folder)
    except OSError as error:
        raise _unreadable(folder, error) from error
    if problem := disorder(records):
        kind, row = records.place_of(problem[0])
        raise damaged(f"{file_of(folder, kind)}, row {row + 1}", problem[1])
    files = (path for path in sorted(folder.iterdir()) if path != file_of(folder, RunRecord))
    if not _are_of_run(records, manifest.run_id, (path.read_bytes() for path in files)):
        raise damaged(folder, _OTHER_RECORDS)
    records.release()
    return records


def _lines(path: Path, manifest: Manifest) -> RunRecords:
    lines = _stored_lines(path)
    numbered = [*_numbered_records(path, lines)]
    records = RunRecords.listed([record for _, record in numbered])
    if problem := disorder(records, at_once=manifest.is_live):
        raise _damaged(path, numbered[problem[0]][0], problem[1])
    if numbered:
        last_line = numbered[-1][0]
        if not _are_of_run(records, manifest.run_id, (line + b"\n" for line in lines[: last_line - 1])):
            raise _damaged(path, last_line, _OTHER_RECORDS)
    return records


def _are_of_run(records: RunRecords, run_id: str, stored: Iterable[bytes]) -> bool:
    """Whether `stored`, the records before the end, are what the run wrote; True if it has no checksum."""
    end = records.last
    written = end.records_sha256 if isinstance(end, RunRecord) else None
    return written is None or written == checksum(run_id, stored)


def _replaced(path: Path) -> str | None:
    try:
        return " ".join(path.read_text(encoding="utf-8", errors="replace").split()) or "no reason was given"
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error) from error


def _load_manifest(path: Path) -> Manifest:
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text)
        version = content.get("schema_version") if isinstance(content, dict) else SCHEMA_VERSION
        if version not in READ_VERSIONS:
            raise ResultSchemaError(
                f"schema_version {version!r}, but this compactbench reads "
                f"{named_once(map(str, READ_VERSIONS))}; read it with the version that wrote it"
                f"{_writer(content)}",
                code="another-schema-version",
                path=path,
            )
        return Manifest.model_validate_json(text)
    except OSError as error:
        raise _unreadable(path, error) from error
    except ValueError as error:  # neither JSON nor a manifest
        raise ResultSchemaError(
            f"{first_error(error)}; {_RESTORE}", code="damaged-manifest", path=path
        ) from error


def _writer(manifest: Mapping[str, Any]) -> str:
    """The version and the commit of compactbench that wrote a manifest, as far as it names them."""
    versions, git = (manifest.get(name) or {} for name in ("versions", "git"))
    version, commit = versions.get("compactbench"), git.get("commit")
    return f", {version}{f' at commit {commit}' if commit else ''}" if version else ""


def _stored_lines(path: Path) -> list[bytes]:
    """The lines of a file without their ends; the last one is empty if it ends whole."""
    try:
        return path.read_bytes().split(b"\n") if path.exists() else []
    except OSError as error:
        raise _unreadable(path, error) from error


def _numbered_records(path: Path, lines: Sequence[bytes]) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = parse_record(line)
        except ValueError as error:
            if number == len(lines):  # without a newline: the writer was killed while writing it
                return
            raise _damaged(path, number, first_error(error)) from error
        yield number, record


def _damaged(path: Path, line: int, problem: str) -> ResultSchemaError:
    return ResultSchemaError(f"{problem}; {_REPEAT}", code="damaged-record", path=f"{path}, line {line}")


def _unlisted(error: OSError) -> ResultSchemaError:
    return ResultSchemaError(
        f"cannot be listed ({error.strerror}), so runs in it may be missing; make it readable",
        code="unreadable",
        path=error.filename,
    )


def _unreadable(path: Path, error: OSError) -> ResultSchemaError:
    return ResultSchemaError(f"cannot be read ({error.strerror}); {_RESTORE}", code="unreadable", path=path)
