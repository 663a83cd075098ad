"""Table properties as the executor without Spark reads them."""

from collections.abc import Mapping

# Table properties with the defaults of Iceberg's TableProperties at 1.11.0.
_FORMATS = ("write.format.default", "write.delete.format.default")
_CODEC, _DEFAULT_CODEC = "write.parquet.compression-codec", "zstd"
_LEVEL, _DEFAULT_ZSTD_LEVEL = "write.parquet.compression-level", 3  # ZstandardCodec of parquet-java
_ROW_GROUP_BYTES, _DEFAULT_ROW_GROUP_BYTES = "write.parquet.row-group-size-bytes", 128 * 1024 * 1024
_ENCRYPTION, _NAME_MAPPING = "encryption.key-id", "schema.name-mapping.default"
_CODECS = {
    "zstd": "zstd",
    "snappy": "snappy",
    "gzip": "gzip",
    "lz4": "lz4_raw",
    "uncompressed": "uncompressed",
}
_ZSTD_LEVELS = range(1, 23)


def check_properties(properties: Mapping[str, str]) -> None:
    """Raises ValueError, with the property and its value, for a table that it would misread or damage."""
    for name in _FORMATS:
        if properties.get(name, "parquet").lower() != "parquet":
            raise ValueError(f"{name} = {properties[name]!r}: this executor reads and writes Parquet only")
    if _ENCRYPTION in properties:
        raise ValueError(f"{_ENCRYPTION} is set, and this executor cannot decrypt the table")
    if _NAME_MAPPING in properties:
        raise ValueError(f"{_NAME_MAPPING} is set, and this executor finds columns by their field ids alone")
    compression(properties)
    row_group_bytes(properties)


def compression(properties: Mapping[str, str]) -> str:
    """The options of COPY. Raises ValueError for a codec that DuckDB lacks, or a level that zstd lacks."""
    name = properties.get(_CODEC, _DEFAULT_CODEC).lower()
    if name not in _CODECS:
        raise ValueError(f"{_CODEC} = {name!r}: this executor writes {', '.join(sorted(_CODECS))}")
    if name != "zstd":
        return f"COMPRESSION {_CODECS[name]}"
    level = _whole_number(properties, _LEVEL, _DEFAULT_ZSTD_LEVEL)
    if level not in _ZSTD_LEVELS:
        raise ValueError(f"{_LEVEL} = {level} is no level of zstd: choose 1 to {_ZSTD_LEVELS[-1]}")
    return f"COMPRESSION {_CODECS[name]}, COMPRESSION_LEVEL {level}"


def row_group_bytes(properties: Mapping[str, str]) -> int:
    """Before compression. Raises ValueError if it is not a positive whole number."""
    limit_bytes = _whole_number(properties, _ROW_GROUP_BYTES, _DEFAULT_ROW_GROUP_BYTES)
    if limit_bytes <= 0:
        raise ValueError(f"{_ROW_GROUP_BYTES} = {limit_bytes} must be > 0")
    return limit_bytes


def _whole_number(properties: Mapping[str, str], key: str, default: int) -> int:
    try:
        return int(properties.get(key, default))
    except ValueError:
        raise ValueError(f"{key} = {properties[key]!r} is not a whole number") from None
