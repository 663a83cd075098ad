"""What a format adds to a simulated table: its files, its metadata, its rewrites, and what scans open."""

from dataclasses import dataclass
from typing import Protocol, TypeVar

from bench.engines.contract import InlineCompaction, Tag, Version
from bench.engines.ledger import AnyLedger
from bench.results.values import Change, CommitWork, RewriteWork, ScanWork
from strategies.plan import Action
from strategies.preview import NoPreview, Preview
from workloads.commit import CommitSpec

Prepared = TypeVar("Prepared")


class ConflictError(ValueError):
    """A staged action cannot be committed, because of what has been committed since."""


@dataclass(frozen=True, slots=True)
class LostCommit:
    """A commit that lost: why, in the format's words, and what it has done for nothing."""

    reason: str
    change: Change
    work: CommitWork


class FormatModel(Protocol[Prepared]):
    """One simulated table of a format. It keeps the table's ledger and its live rows up to date itself.

    Nothing of it costs anything: the engine prices the work that versions and previews state.
    """

    metadata_commands: frozenset[str]  # that write no data file
    stages_files: bool  # whether staging writes the files of a rewrite, which is its work

    @property
    def ledger(self) -> AnyLedger:
        """The engine adds versions and pending plans to it."""

    def create(self) -> None: ...

    def commit(self, spec: CommitSpec, tag: Tag) -> tuple[Version, tuple[InlineCompaction, ...]]:
        """A commit: its version, and the compactions that it ran by itself.

        A commit of an imported table has `spec.recorded` files, which are taken as they are.
        """

    def lost(self, spec: CommitSpec, staged: Prepared) -> LostCommit | None:
        """What a commit that begins now will have lost if a staged action commits before it does.

        None if it commits all the same. Called before the action is executed.
        """

    def begin(self, spec: CommitSpec) -> LostCommit | None:
        """Begin a commit beside others: what it has lost if a staged action refuses it."""

    def overtaken(self, spec: CommitSpec) -> LostCommit | None:
        """What a commit whose files are written loses to actions that are only staged."""

    def stage(self, action: Action, preview: Preview | NoPreview, at_ms: int) -> Prepared:
        """Prepare an action at a moment, such as by writing the files of an explicit rewrite.

        Raises ValueError if a file that it names is gone.
        """

    def execute(
        self, action: Action, preview: Preview | NoPreview, staged: Prepared | None, tag: Tag
    ) -> tuple[Version, ...] | None:
        """Execute an action, or commit what was staged of it; None if a commit has executed it before.

        Raises ConflictError on a conflict, and ValueError if the action cannot be previewed.
        """

    def work_of(self, staged: Prepared) -> RewriteWork:
        """The work of a staged action that has no preview, as far as it is known."""

    def opened(self, sql: str) -> ScanWork:
        """The files that a query opens, and the metadata files that planning it reads."""

    @property
    def live_rows(self) -> int:
        """The expected number of rows in the table, deletes applied."""

    @property
    def physical_rows(self) -> int:
        """The rows of all files that readers take rows from, deletes not applied."""

    @property
    def content_bytes(self) -> int:
        """The bytes of one data file with the live rows."""

    @property
    def stored_bytes(self) -> tuple[int, int]:
        """Data and delete files in storage, and metadata files, including those of old versions."""
