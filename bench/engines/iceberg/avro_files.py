"""Avro files of an Iceberg table, refused if they are cut off or their blocks do not fit, before decoding.

PyIceberg's decoder is compiled and checks no bounds, so a damaged length may end the process. A length within
a block is not checked here.
"""

from io import BytesIO

from pyiceberg.avro.decoder import StreamingBinaryDecoder
from pyiceberg.avro.file import MAGIC, META_SCHEMA, SYNC_SIZE, AvroFileHeader
from pyiceberg.avro.resolver import construct_reader
from pyiceberg.io import InputFile, InputStream


class WholeAvroFile(InputFile):
    """A file whose blocks are all there, between the marks that its header names."""

    def __init__(self, file: InputFile) -> None:
        super().__init__(file.location)
        self._file = file

    def __len__(self) -> int:
        return len(self._file)

    def exists(self) -> bool:
        return self._file.exists()

    def open(self, seekable: bool = True) -> InputStream:
        """Raises ValueError or EOFError if the file is cut off or a block does not fit."""
        with self._file.open() as stream:
            content = stream.read()
        _check_blocks(content)
        return BytesIO(content)


def _check_blocks(content: bytes) -> None:
    """Follow the structure of Avro 1.11's "Object Container Files" with the decoder that checks bounds."""
    decoder = StreamingBinaryDecoder(content)
    header = construct_reader(META_SCHEMA, {-1: AvroFileHeader}).read(decoder)
    if header.magic != MAGIC:
        raise ValueError("not an Avro file")
    while decoder.tell() < len(content):
        decoder.read_int()  # the number of records
        decoder.read(decoder.read_int())
        if decoder.read(SYNC_SIZE) != header.sync:
            raise ValueError("a block does not end where it should")
