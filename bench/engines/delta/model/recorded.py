"""The changes by recorded commits in a simulated Delta table, which other compactions may have changed."""

from collections.abc import Iterable, Mapping

from bench.engines.delta.ledger import DeltaLedger
from bench.engines.delta.model.changes import Changes
from bench.engines.delta.model.files import FileMaker, vector_bytes
from bench.engines.simulated.contents import Contents
from bench.engines.simulated.costs import Coefficients
from bench.engines.simulated.recorded_files import rewritten, size_ratio
from bench.engines.simulated.recorded_rows import RecordedRows, recorded_path
from strategies.delta.files import DeletionVector, DeltaDataFile
from strategies.series import Run
from workloads.commit import CommitSpec
from workloads.recorded import NO_RECORDED_CHANGE, Content, RecordedChange, RecordedFile
from workloads.schema import Schema

_BY_ROW = frozenset({"MERGE", "UPDATE", "DELETE"})  # commands that look for rows to change


class RecordedCommits:
    """Makes the files of recorded commits and updates the contents; the changes are to be committed at once.

    Once the stream has written a vector, its commands by row mark rows where they are. Until then they
    rewrite the files of these rows.
    """

    def __init__(
        self, ledger: DeltaLedger, contents: Contents, rows: RecordedRows, maker: FileMaker, schema: Schema,
        coefficients: Coefficients,
    ) -> None:  # fmt: skip
        self._ledger, self._contents, self._rows = ledger, contents, rows
        self._maker, self._schema, self._coefficients = maker, schema, coefficients
        self._marks = False

    def scanned(self, spec: CommitSpec) -> tuple[int, int] | None:
        """The files and their rows that a commit is about to search; None if it only adds files.

        What replaces files without a search, as an overwrite does, has searched none.
        """
        change = spec.recorded or NO_RECORDED_CHANGE
        if change.operation in _BY_ROW and not spec.is_initial:
            return len(self._ledger.data_files), self._ledger.data_rows
        return (0, 0) if change.removed or change.hits else None

    def changes(self, spec: CommitSpec) -> Changes:
        change = spec.recorded or NO_RECORDED_CHANGE
        recorded = {
            recorded_path(file.targets[0]): file
            for file in change.added
            if file.content is Content.VECTOR and len(file.targets) == 1
        }
        self._marks |= any(file.content is Content.VECTOR for file in change.added)
        touched = {origin: rows for (origin, _), rows in self._contents.commit(spec).items()}
        left = {origin: left for origin, (_, left) in touched.items()}
        gone = self._gone(change, left, recorded)
        data = self._ledger.data_files
        marked: list[Run[DeltaDataFile]] = [
            data.at(origin, 0)
            for origin, (lost, _) in touched.items()
            if origin not in gone and (lost or origin in recorded)
        ]
        removed, added = list[Run[DeltaDataFile]](), list[Run[DeltaDataFile]]()
        runs = ((data.at(origin, 0), left[origin]) for origin in gone)
        new = (file for file in change.added if file.is_data)
        for part in rewritten(runs, new, self._schema, self._coefficients):
            made = [self._maker.recorded(file) for file in part.added]
            if part.left_rows and not part.added_rows:
                ratio = size_ratio(part.gone, self._schema, self._coefficients)
                made.append(self._maker.data_file(part.left_rows, part.partition, size_ratio=ratio))
            self._contents.replace(part.gone, made, part.added_rows)
            removed += part.gone
            added += made
        marked += (run for run in added if run.origin in recorded)
        return Changes(change.operation, removed, added, self._vectors(marked, recorded), marked)

    def _gone(
        self, change: RecordedChange, left: Mapping[str, int], recorded: Mapping[str, RecordedFile]
    ) -> Iterable[str]:
        """The files that are removed: those with rows of removed ones, and those without a row left.

        A file in which a compaction has put rows of others stays if the rows can be marked instead.
        """
        removed = self._rows.holders(file.id for file in change.removed)
        if self._marks and change.operation in _BY_ROW:
            removed = [origin for origin in removed if not left[origin]]
        emptied = [origin for origin, rows in left.items() if not rows and origin not in recorded]
        return dict.fromkeys((*removed, *emptied))

    def _vectors(
        self, marked: Iterable[Run[DeltaDataFile]], recorded: Mapping[str, RecordedFile]
    ) -> list[DeletionVector]:
        """A vector for each of these files: the recorded one, if as many rows are deleted here."""
        deleted = []
        for run in marked:
            rows, vector = self._rows.dead(run.origin), recorded.get(run.origin)
            if vector is not None and vector.rows == rows:
                size_bytes = vector.size_bytes
            else:
                size_bytes = vector_bytes(rows, run.first.rows)
            deleted.append((run.first, rows, size_bytes))
        return self._maker.vectors(deleted)
