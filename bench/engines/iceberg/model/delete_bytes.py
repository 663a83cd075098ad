"""The expected sizes of delete files."""

# The fixed size of a delete file and its bytes per row: Spark 3.5.8 with zstd, 1 to 100,000 rows (503 and
# 36,648 bytes at 1 and 10,000 of order_id, drawn from 20 million; 1,404 and 17,709 of (file_path, pos), one
# path of 113 characters). Provisional: Iceberg's own writers add their schema to the footer.
_EQUALITY_FILE_BYTES, _EQUALITY_ROW_BYTES = 500, 3.6
_POSITION_FILE_BYTES, _POSITION_ROW_BYTES = 1_400, 1.6


def equality_bytes(rows: int, files: int = 1) -> float:
    """The expected bytes of equality delete files with so many keys in total."""
    return files * _EQUALITY_FILE_BYTES + rows * _EQUALITY_ROW_BYTES


def position_bytes(rows: int, files: int = 1) -> float:
    """The expected bytes of position delete files with so many rows in total, each for one data file."""
    return files * _POSITION_FILE_BYTES + rows * _POSITION_ROW_BYTES
