"""The compaction of delta-rs, in this process and without Spark, on the terms that Spark's OPTIMIZE has."""

from collections.abc import Mapping
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

    By default delta-rs would write zstd, and use all cores of the machine.
    """
    from deltalake import CommitProperties, DeltaTable

    DeltaTable(location).optimize.compact(
        target_size=int(action.arguments["target_size"]),
        max_concurrent_tasks=cores,
        writer_properties=writer_properties(codec),
        commit_properties=CommitProperties(custom_metadata={"userMetadata": str(tag)}),
    )


def writer_properties(codec: str) -> "WriterProperties":
    """How delta-rs writes with a codec of Spark. Raises ValueError for one it does not have, such as lzo."""
    from deltalake import WriterProperties

    name = _CODECS.get(codec.lower(), cast(_Codec, codec.upper()))
    return WriterProperties(compression=name, compression_level=_LEVELS.get(name))
