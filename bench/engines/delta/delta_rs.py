"""The compaction of delta-rs, in this process and without Spark, on the terms that Spark's OPTIMIZE has."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, cast

from bench.engines.contract import Tag
from strategies.plan import Native

if TYPE_CHECKING:
    from deltalake import WriterProperties

_Codec = Literal["UNCOMPRESSED", "SNAPPY", "GZIP", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"]
_CODECS: Mapping[str, _Codec] = {"none": "UNCOMPRESSED"}  # others have one name in both
# parquet.compression.codec.zstd.level of parquet-java, where delta-rs has 1, or 4 if no codec is set at all.
_LEVELS: Mapping[_Codec, int] = {"ZSTD": 3}


def compact(location: str, action: Native, tag: Tag, codec: str, cores: int) -> None:
    """Run `optimize.compact` with Spark's codec and no more tasks at a time than Spark's `cores`.

    By default delta-rs would write zstd, and use all cores of the machine. Raises ValueError for a table that
    it would damage, and for what delta-rs itself refuses, such as a conflict.
    """
    from deltalake import CommitProperties, DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        table = DeltaTable(location)
        check_partitions(table.partitions())
        table.optimize.compact(
            target_size=int(action.arguments["target_size"]),
            max_concurrent_tasks=cores,
            writer_properties=writer_properties(codec),
            commit_properties=CommitProperties(custom_metadata={"userMetadata": str(tag)}),
        )
    except DeltaError as error:
        raise ValueError(f"delta-rs: {error}") from error


def check_partitions(partitions: Iterable[Mapping[str, str | None]]) -> None:
    """Raises ValueError for a partition value that delta-rs 1.6 and Spark write differently into a path.

    delta-rs encodes what is not ASCII, and Spark does not. Spark then does not recognise the files that a
    compaction has removed, and reads their rows twice. Of a path with "~" delta-rs does not find the files.
    """
    for partition in partitions:
        for column, value in partition.items():
            if value is not None and (not value.isascii() or "~" in value):
                raise ValueError(
                    f"{column} = {value!r}: delta-rs and Spark write the paths of such a partition "
                    "differently, so one does not recognise the files of the other; compact this table with "
                    "delta.optimize"
                )


def writer_properties(codec: str) -> "WriterProperties":
    """How delta-rs writes with a codec of Spark. Raises ValueError for one it does not have, such as lzo."""
    from deltalake import WriterProperties

    name = _CODECS.get(codec.lower(), cast(_Codec, codec.upper()))
    return WriterProperties(compression=name, compression_level=_LEVELS.get(name))
