"""What Amoro sees in a partition: its files by what may become of them, and what their deletes add up to.

Source: reference 2.3, upstream `CommonPartitionEvaluator` and `AbstractOptimizingEvaluator` at 96a4d78. Files
are grouped by `partition_path`, whatever their spec, in a hash map whose order shows in a plan. A scan with
several manifests gives files in accidental order; here they are taken to be scanned by path.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto

from strategies.amoro.hash_map import HashMapKeys
from strategies.amoro.options import Settings
from strategies.amoro.pending import partition_path
from strategies.iceberg.deletes.index import DeleteIndex, delete_index
from strategies.iceberg.deletes.reach import DeleteSet
from strategies.iceberg.deletes.series import FileSums, sums_of
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergState

# FileFormat of Iceberg 1.7.2, names and extensions.
_EXTENSIONS = {"orc": ".orc", "parquet": ".parquet", "avro": ".avro", "metadata": ".metadata.json"}


class FileClass(StrEnum):
    """What a data file counts as, which says what becomes of it in a plan.

    Fragments and segments are rewritten, undersized files merged where two fit, of `POSITIONS` the deletes
    are converted.
    """

    FRAGMENT = auto()  # size <= fragment size
    SEGMENT = auto()  # larger, and rewritten: position-deleted rows > ratio of its rows, or FULL is due
    UNDERSIZED = auto()  # fragment size < size <= minimum target size, and no reason to rewrite it alone
    POSITIONS = auto()  # size > minimum target size, and deletes that are not one file of Amoro's own
    CLEAN = auto()  # size > minimum target size; counted nowhere, its deletes are left alone


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """A data file with what applies to it. `position_rows` are of whole delete files, whichever file's."""

    file: IcebergDataFile
    equality_count: int = 0
    position_count: int = 0
    position_rows: int = 0
    has_own_positions: bool = False  # its one position delete file was written by Amoro for it alone

    @property
    def has_deletes(self) -> bool:
        """Whether any delete file applies."""
        return self.equality_count + self.position_count > 0

    @property
    def needs_positions(self) -> bool:
        """Whether its deletes are worth one new position delete file (`segmentShouldRewritePos`)."""
        if self.position_count >= 2 or self.equality_count > 0:
            return True
        return self.position_count == 1 and not self.has_own_positions


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition's files by class with their sums, and the sums of deletes, each delete file once.

    Deletes of clean files are not in the sums. `name` is its `partition_path`, which several partitions of
    the table may have in common: `texts` are those of its files. Amoro keeps the one `scanned_first`.
    """

    name: str
    texts: frozenset[str]
    scanned_first: str
    files: Mapping[FileClass, tuple[ScannedFile, ...]]
    sums: Mapping[FileClass, FileSums]
    equality: FileSums
    position: FileSums

    def count(self, file_class: FileClass) -> int:
        """Data files of a class."""
        return self.sums[file_class].files_count

    @property
    def small_count(self) -> int:
        """What the minor trigger counts: fragments and equality delete files, no position deletes."""
        return self.count(FileClass.FRAGMENT) + self.equality.files_count

    @property
    def counted(self) -> FileSums:
        """The sums of all data files but the clean ones."""
        return sum((self.sums[each] for each in FileClass if each is not FileClass.CLEAN), FileSums())


def evaluate(
    files: Collection[IcebergDataFile],
    index: DeleteIndex,
    settings: Settings,
    full_due: bool,
    known: Iterable[Partition] = (),
) -> tuple[Partition, ...]:
    """The partitions that the files are of, in the order of Amoro's hash map.

    Those `known` from an evaluation at the same time are not evaluated again if they have the same files.
    """
    by_name = {partition.name: partition for partition in known}
    paths = {text: partition_path(text) for text in {file.partition for file in files}}
    groups: dict[str, list[IcebergDataFile]] = defaultdict(list)
    for file in files:
        groups[paths[file.partition]].append(file)
    found = []
    for name in _in_map_order(groups):
        texts = frozenset(file.partition for file in groups[name])
        partition = by_name.get(name)
        if partition is None or partition.texts != texts:
            partition = _partition(name, groups[name], index, settings, full_due)
        found.append(partition)
    return tuple(found)


def filtered(files: Collection[IcebergDataFile], settings: Settings) -> Collection[IcebergDataFile]:
    """The files that `self-optimizing.filter` admits. Raises ValueError as `PartitionFilter.admits` does."""
    own = settings.filter
    return files if own is None else admitted(files, own.admits)


def admitted(files: Iterable[IcebergDataFile], admits: Callable[[str], bool]) -> Collection[IcebergDataFile]:
    """The files whose partition is admitted, which is asked once a partition."""
    found = tuple(files)
    partitions = {text for text in {file.partition for file in found} if admits(text)}
    return [file for file in found if file.partition in partitions]


def _in_map_order(groups: Mapping[str, Sequence[IcebergDataFile]]) -> Iterable[str]:
    """Names in the order of the map that `computeIfAbsent` fills, called for each file.

    A call after that for the last new name may still make the map grow.
    """
    first = {name: min(file.path for file in files) for name, files in groups.items()}
    names = sorted(groups, key=first.__getitem__)
    keys = HashMapKeys()
    for name in names:
        keys.compute_if_absent(name)
    if names and any(file.path > first[names[-1]] for files in groups.values() for file in files):
        keys.compute_if_absent(names[-1])
    return keys


def amoro_index(state: IcebergState) -> DeleteIndex:
    """The table's deletes. Amoro knows no deletion vectors: its reader fails on their files (2.7).

    Raises ValueError where the table has any, and StateError as `index_deletes`.
    """
    vector = next((d for d in state.delete_files if d.kind is DeleteKind.DELETION_VECTOR), None)
    if vector is not None:
        raise ValueError(
            f"{vector.path} is a deletion vector, which Amoro cannot read: give the table format version 2"
        )
    return delete_index(state)


def class_of(scanned: ScannedFile, settings: Settings, full_due: bool) -> FileClass:
    """The class of one file (`addFile`)."""
    size_bytes = scanned.file.size_bytes
    if size_bytes <= settings.fragment_bytes:
        return FileClass.FRAGMENT
    is_undersized = size_bytes <= settings.min_target_bytes
    if full_due:
        is_rewritten = settings.full_rewrites_all or scanned.has_deletes or is_undersized
    else:
        is_rewritten = scanned.position_rows > scanned.file.rows * settings.duplicate_ratio
    if is_rewritten:
        return FileClass.SEGMENT
    if is_undersized:
        return FileClass.UNDERSIZED
    return FileClass.POSITIONS if scanned.needs_positions else FileClass.CLEAN


def _partition(
    name: str, files: Sequence[IcebergDataFile], index: DeleteIndex, settings: Settings, full_due: bool
) -> Partition:
    found: dict[FileClass, list[ScannedFile]] = {each: [] for each in FileClass}
    reach = DeleteSet(index)
    for file in files:
        scanned = _scanned(file, index)
        file_class = class_of(scanned, settings, full_due)
        found[file_class].append(scanned)
        if file_class is not FileClass.CLEAN:
            reach.add(file)
    return Partition(
        name=name,
        texts=frozenset(file.partition for file in files),
        scanned_first=min(files, key=lambda file: file.path).partition,
        files={each: tuple(own) for each, own in found.items()},
        sums={each: sums_of(scanned.file for scanned in own) for each, own in found.items()},
        equality=reach.equality,
        position=reach.position,
    )


def _scanned(file: IcebergDataFile, index: DeleteIndex) -> ScannedFile:
    if index.is_empty:
        return ScannedFile(file)
    reach = DeleteSet(index, [file])
    position = reach.position
    is_own = position.files_count == 1 and all(
        is_amoros_own(delete.path, file.path) for delete in reach.position_files
    )
    return ScannedFile(
        file,
        index.equality_of(file).files_count,
        position.files_count,
        position.rows,
        has_own_positions=is_own,
    )


def is_amoros_own(delete_path: str, data_path: str) -> bool:
    """Whether Amoro wrote a delete file for this data file: a.parquet has a-delete-*.

    Source: `TableFileUtil.isOptimizingPosDeleteFile`.
    """
    return _file_name(delete_path).startswith(f"{_without_extension(_file_name(data_path))}-delete")


def _file_name(path: str) -> str:
    return path[path.rfind("/") + 1 :]


def _without_extension(name: str) -> str:
    """`getFileNameWithoutExt`: only extensions of formats are cut, by the length of the format's name."""
    own = next((each for each, extension in _EXTENSIONS.items() if name.endswith(extension)), None)
    return name if own is None else name[: -len(own) - 1]
