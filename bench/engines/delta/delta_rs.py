"""An executor without Spark: delta-rs runs OPTIMIZE in this process.

delta-rs chooses files by rules of its own: it merges files that are next to each other in the log, excludes
only files above the target size, and ignores deleted rows. So a plan has no preview.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, cast

from bench.engines.contract import Tag
from bench.engines.delta.ledger import PLANNING
from bench.engines.delta.table_keys import DELTA_RS_CAPABILITIES
from bench.engines.tickets import Planning
from strategies.delta.commands import NO_REWRITE
from strategies.delta.optimize_options import MAX_FILE_SIZE
from strategies.plan import Action, Native
from strategies.preview import Preview, PreviewError
from strategies.state import TableState

if TYPE_CHECKING:
    from deltalake import WriterProperties

_Codec = Literal["UNCOMPRESSED", "SNAPPY", "GZIP", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"]
_CODECS: Mapping[str, _Codec] = {"none": "UNCOMPRESSED"}  # others have one name in both
# As parquet.compression.codec.zstd.level of parquet-java. delta-rs uses 1, or 4 if no codec is set.
_LEVELS: Mapping[_Codec, int] = {"ZSTD": 3}


def _no_preview(action: Action, state: TableState) -> Preview:
    raise PreviewError("delta-rs chooses files by rules of its own")


@dataclass(frozen=True, slots=True)
class DeltaRs:
    """Executes `delta.optimize` on the whole table at `location`; see `Executor`.

    It uses Spark's `codec` and number of `cores`: by default delta-rs would write zstd and use all cores of
    the machine. The idle JVM's CPU is counted too.
    """

    location: str
    target_file_size_bytes: int
    codec: str
    cores: int
    capabilities: ClassVar[frozenset[str]] = DELTA_RS_CAPABILITIES
    planning: ClassVar[Planning] = Planning(_no_preview, PLANNING.resurrection)

    def stage(self, action: Action, at_ms: int) -> None:
        raise ValueError(NO_REWRITE)

    def execute(self, action: Action, prepared: None, tag: Tag) -> None:
        options = dict(action.options) if isinstance(action, Native) else {}
        target_bytes = int(options.pop(MAX_FILE_SIZE, self.target_file_size_bytes))
        if options:
            raise ValueError(f"delta-rs has no option {', '.join(sorted(options))}; it has {MAX_FILE_SIZE}")
        compact(self.location, target_bytes, tag, self.codec, self.cores)


def compact(location: str, target_bytes: int, tag: Tag, codec: str, cores: int) -> None:
    """Raises ValueError for a table that delta-rs would damage, and for a conflict with another commit."""
    from deltalake import CommitProperties, DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        table = DeltaTable(location)
        check_partitions(table.partitions())
        table.optimize.compact(
            target_size=target_bytes,
            max_concurrent_tasks=cores,
            writer_properties=writer_properties(codec),
            commit_properties=CommitProperties(custom_metadata={"userMetadata": str(tag)}),
        )
    except DeltaError as error:
        raise ValueError(f"delta-rs: {error}") from error


def check_partitions(partitions: Iterable[Mapping[str, str | None]]) -> None:
    """Raises ValueError for a partition value that delta-rs 1.6 and Spark write differently into a path.

    delta-rs percent-encodes non-ASCII characters and Spark does not. Spark then does not recognise the files
    that a compaction has removed, and reads their rows twice. In a path with "~" delta-rs does not find the
    files.
    """
    for partition in partitions:
        for column, value in partition.items():
            if value is not None and (not value.isascii() or "~" in value):
                raise ValueError(
                    f"{column} = {value!r}: delta-rs and Spark encode the path of this partition "
                    "differently, so Spark would read compacted rows twice: leave out executor"
                )


def writer_properties(codec: str) -> "WriterProperties":
    """Raises ValueError for a codec of Spark that delta-rs lacks, such as lzo."""
    from deltalake import WriterProperties

    name = _CODECS.get(codec.lower(), cast(_Codec, codec.upper()))
    return WriterProperties(compression=name, compression_level=_LEVELS.get(name))
