"""What a format adds to a simulated table: its files, its metadata, its rewrites, and what a scan opens."""

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from bench.engines.contract import Cost, Tag, Version
from bench.engines.ledger import AnyLedger
from bench.engines.simulated.costs import Work
from strategies.plan import Action, Rewrite
from strategies.preview import NoPreview, Preview
from workloads.commit import CommitSpec

Prepared = TypeVar("Prepared")


@dataclass(frozen=True, slots=True)
class Staging(Generic[Prepared]):
    """An explicit rewrite whose files are written and not committed, and what that took."""

    prepared: Prepared
    cost: Cost


class FormatModel(Protocol[Prepared]):
    """One simulated table of a format. It keeps the table's ledger and live rows up to date itself."""

    @property
    def ledger(self) -> AnyLedger:
        """The state of the table, which the engine reads and tells of versions and pending plans."""

    def create(self) -> None:
        """Make the empty table."""

    def commit(self, spec: CommitSpec, tag: Tag) -> tuple[Version, Work]:
        """Add the files of a commit, and what its writers had to do."""

    def stage(self, action: Rewrite, preview: Preview | NoPreview) -> Staging[Prepared]:
        """Write the files of an explicit rewrite. Raises ValueError where a file it names is gone."""

    def execute(
        self, action: Action, preview: Preview | NoPreview, staged: Prepared | None, tag: Tag
    ) -> tuple[tuple[Version, ...], Cost]:
        """Execute an action, or commit what was staged of it, which is paid for already.

        Raises ValueError on a conflict, and where the action cannot be previewed.
        """

    def opened(self, sql: str) -> Work:
        """The files that a query has to open."""

    @property
    def live_rows(self) -> int:
        """The rows that a reader is expected to find, deletes applied."""

    @property
    def opened_metadata_files_count(self) -> int:
        """The metadata files that planning a query reads."""

    @property
    def data_storage_bytes(self) -> int:
        """Bytes of all data and delete files on storage, those of old versions included."""

    @property
    def metadata_storage_bytes(self) -> int:
        """Bytes of all metadata files on storage."""
