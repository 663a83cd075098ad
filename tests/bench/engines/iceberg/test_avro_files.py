import pytest
from iceberg_manifests import entry, write_manifest
from pyiceberg.io.pyarrow import PyArrowFileIO

from bench.engines.iceberg.avro_files import WholeAvroFile

MARK_BYTES = 16  # at the end of a header and of each block
ONE_RECORD_OF_1_GIB = b"\x02\x80\x80\x80\x80\x08"


@pytest.fixture
def manifest(tmp_path):
    """A manifest with one block, and the number of bytes of its header."""
    file = tmp_path / "manifest.avro"
    write_manifest(PyArrowFileIO(), f"file://{file}", entry("a"))
    whole = file.read_bytes()
    return file, whole.index(whole[-MARK_BYTES:]) + MARK_BYTES


def opened(file):
    with WholeAvroFile(PyArrowFileIO().new_input(f"file://{file}")).open() as stream:
        return stream.read()


def test_a_whole_file_is_read(manifest):
    file, _ = manifest
    assert opened(file) == file.read_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole, start: b"",
        lambda whole, start: whole[: start // 2],
        lambda whole, start: whole[: start + 9],
        lambda whole, start: whole[:-1],
        lambda whole, start: whole[:-MARK_BYTES] + bytes(MARK_BYTES),
        lambda whole, start: whole + b"x",
        lambda whole, start: b"PAR1" + whole[4:],
        lambda whole, start: b"x" * len(whole),
        lambda whole, start: whole[:start] + ONE_RECORD_OF_1_GIB + whole[start:],
        lambda whole, start: whole[:start] + b"\x02\x01" + whole[start:],  # a negative length
    ],
)
def test_a_damaged_file_is_refused_before_it_is_decoded(manifest, damage):
    file, start = manifest
    file.write_bytes(damage(file.read_bytes(), start))
    with pytest.raises((ValueError, EOFError)):
        opened(file)
