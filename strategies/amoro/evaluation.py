"""Amoro's evaluation of partitions: their files by class, and the totals of the deletes that apply.

Files are grouped by `partition_path`, whatever their partition spec, in a hash map whose order is visible in
plans. Upstream scans several manifests in parallel and gets their files in arbitrary order; we take files to
be scanned in order of their paths.

Source: upstream `CommonPartitionEvaluator` and `AbstractOptimizingEvaluator` at 96a4d78.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto
from urllib.parse import quote_plus

from strategies.amoro.options import Settings
from strategies.grouping import by_key
from strategies.iceberg.deletes.index import DeleteIndex, delete_index
from strategies.iceberg.deletes.ranked import FileSums, sums_of
from strategies.iceberg.deletes.reach import DeleteSet
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergState
from strategies.java_hash_map import HashMapKeys
from strategies.partitions import decoded, fields_of

# Names and extensions of Iceberg's `FileFormat` at 1.7.2.
_EXTENSIONS = {"orc": ".orc", "parquet": ".parquet", "avro": ".avro", "metadata": ".metadata.json"}


class FileClass(StrEnum):
    """The class of a data file, which decides what a plan does with it.

    Fragments and segments are rewritten. Undersized files are merged if at least two fit into a task. Files
    of class `POSITIONS` stay, and their deletes are converted to one position delete file.
    """

    FRAGMENT = auto()  # size <= fragment size
    SEGMENT = auto()  # larger, and rewritten: position-deleted rows > ratio of its rows, or FULL is due
    UNDERSIZED = auto()  # fragment size < size <= minimum target size, and no reason to rewrite it alone
    POSITIONS = auto()  # size > minimum target size, and its deletes are not one file written by Amoro for it
    CLEAN = auto()  # size > minimum target size; in no figure, its deletes are left alone


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """A data file with counts of the delete files that apply to it.

    `position_rows` counts all rows of those position delete files, including rows for other data files.
    """

    file: IcebergDataFile
    equality_count: int = 0
    position_count: int = 0
    position_rows: int = 0
    has_own_positions: bool = False  # whether Amoro wrote its one position delete file, for this file alone

    @property
    def has_deletes(self) -> bool:
        return self.equality_count + self.position_count > 0

    @property
    def needs_positions(self) -> bool:
        """Whether its deletes should be converted to one position delete file (`segmentShouldRewritePos`)."""
        if self.position_count >= 2 or self.equality_count > 0:
            return True
        return self.position_count == 1 and not self.has_own_positions


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """A partition as Amoro evaluates it: its files and their sums by class, and the sums of its deletes.

    Each delete file counts once, and not at all if it applies to clean files only. `name` is the
    `partition_path`, which several partitions of the table may share, such as null and "null". `texts` are
    the partitions of its files, and `scanned_first` is the one that Amoro keeps for all of them.
    """

    name: str
    texts: frozenset[str]
    scanned_first: str
    files: Mapping[FileClass, tuple[ScannedFile, ...]]
    sums: Mapping[FileClass, FileSums]
    equality: FileSums
    position: FileSums

    def count(self, file_class: FileClass) -> int:
        return self.sums[file_class].files_count

    @property
    def small_count(self) -> int:
        """The minor trigger counts fragments and equality delete files, but no position deletes."""
        return self.count(FileClass.FRAGMENT) + self.equality.files_count

    @property
    def counted(self) -> FileSums:
        sums = (summed for file_class, summed in self.sums.items() if file_class is not FileClass.CLEAN)
        return sum(sums, FileSums())


def evaluate(
    files: Collection[IcebergDataFile],
    index: DeleteIndex,
    settings: Settings,
    full_due: bool,
    known: Iterable[Partition] = (),
) -> tuple[Partition, ...]:
    """The partitions of the files, in the order of Amoro's hash map.

    `known` partitions of the same state are used again if they have the same files.
    """
    by_name = {partition.name: partition for partition in known}
    paths = {text: partition_path(text) for text in {file.partition for file in files}}
    groups = by_key(files, lambda file: paths[file.partition])
    evaluated = []
    for name in _in_map_order(groups):
        texts = frozenset(file.partition for file in groups[name])
        partition = by_name.get(name)
        if partition is None or partition.texts != texts:
            partition = _partition(name, groups[name], index, settings, full_due)
        evaluated.append(partition)
    return tuple(evaluated)


def partition_path(partition: str) -> str:
    """Iceberg's `PartitionSpec.partitionToPath`, by which Amoro groups files.

    It is encoded for URLs, and does not distinguish null from the text "null".
    """
    pairs = fields_of(partition).items()
    return "/".join(f"{_url_encoded(name)}={_url_encoded(value)}" for name, value in pairs)


def _url_encoded(text: str) -> str:
    return quote_plus(decoded(text), safe="*").replace("~", "%7E")  # URLEncoder.encode


def filtered(files: Collection[IcebergDataFile], settings: Settings) -> Collection[IcebergDataFile]:
    """The files that `self-optimizing.filter` admits. Raises ValueError as `PartitionFilter.admits` does."""
    return files if settings.filter is None else admitted(files, settings.filter.admits)


def admitted(files: Iterable[IcebergDataFile], admits: Callable[[str], bool]) -> Collection[IcebergDataFile]:
    """The files whose partition is admitted; `admits` is called once per partition."""
    candidates = tuple(files)
    partitions = {text for text in {file.partition for file in candidates} if admits(text)}
    return [file for file in candidates if file.partition in partitions]


def _in_map_order(groups: Mapping[str, Sequence[IcebergDataFile]]) -> Iterable[str]:
    """Partition names in the order of the map that upstream fills by `computeIfAbsent`, once per file.

    A call for a name that is already in the map can still make it grow, because `computeIfAbsent` resizes
    before it looks the key up. So one more call follows if files come after the last new name.
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
    """The index of the table's deletes. Amoro does not support deletion vectors: its reader fails.

    Raises ValueError if the table has a deletion vector, and StateError as `index_deletes` does.
    """
    vector = next((d for d in state.delete_files if d.kind is DeleteKind.DELETION_VECTOR), None)
    if vector is not None:
        raise ValueError(
            f"{vector.path} is a deletion vector, which Amoro cannot read: use a table of format version 2"
        )
    return delete_index(state)


def class_of(scanned: ScannedFile, settings: Settings, full_due: bool) -> FileClass:
    """Source: `addFile`."""
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
    by_class: dict[FileClass, list[ScannedFile]] = {file_class: [] for file_class in FileClass}
    deletes = DeleteSet(index)
    for file in files:
        scanned = _scanned(file, index)
        file_class = class_of(scanned, settings, full_due)
        by_class[file_class].append(scanned)
        if file_class is not FileClass.CLEAN:
            deletes.add(file)
    return Partition(
        name=name,
        texts=frozenset(file.partition for file in files),
        scanned_first=min(files, key=lambda file: file.path).partition,
        files={file_class: tuple(members) for file_class, members in by_class.items()},
        sums={
            file_class: sums_of(scanned.file for scanned in members)
            for file_class, members in by_class.items()
        },
        equality=deletes.equality,
        position=deletes.position,
    )


def _scanned(file: IcebergDataFile, index: DeleteIndex) -> ScannedFile:
    if index.is_empty:
        return ScannedFile(file)
    deletes = DeleteSet(index, [file])
    position = deletes.position
    is_own = position.files_count == 1 and all(
        is_amoros_own(delete.path, file.path) for delete in deletes.position_files
    )
    return ScannedFile(
        file,
        index.equality_of(file).files_count,
        position.files_count,
        position.rows,
        has_own_positions=is_own,
    )


def is_amoros_own(delete_path: str, data_path: str) -> bool:
    """Amoro names the delete files of a.parquet a-delete-* (`TableFileUtil.isOptimizingPosDeleteFile`)."""
    return _file_name(delete_path).startswith(f"{_without_extension(_file_name(data_path))}-delete")


def _file_name(path: str) -> str:
    return path[path.rfind("/") + 1 :]


def _without_extension(name: str) -> str:
    """`getFileNameWithoutExt`, which recognises the extensions of file formats only.

    It cuts off as many characters as the format's name has, and one for the dot. For "metadata" that is not
    the extension (".metadata.json"); upstream has the same flaw.
    """
    extensions = _EXTENSIONS.items()
    file_format = next((word for word, extension in extensions if name.endswith(extension)), None)
    return name if file_format is None else name[: -len(file_format) - 1]
