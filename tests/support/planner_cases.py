"""Tables and options for the comparison with Iceberg's planner, drawn so that sums meet the thresholds."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st
from key_metrics import KEY_COLUMNS, KeyColumn, KeyMetrics, key_metrics, keys_of

from strategies.iceberg.commands import Command
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, IcebergState
from strategies.iceberg.rewrite_data_files import bucket_of
from strategies.iceberg.rewrite_options import RewriteOptions, rewrite_options
from strategies.plan import Native

# The partition columns of each spec a table has had; the last is the current one.
LAYOUTS = (((),), (("p",),), ((), ("p",)), (("p",), ("p", "q")), (("p",), ()), ((), ("p",), ("p", "q")))
TARGETS = (20_000, 60_000, 1_000_000, 2**29)
TABLES = st.tuples(st.sampled_from(LAYOUTS), st.sampled_from(TARGETS))
POSITION = DeleteKind.POSITION
NEAR = st.sampled_from((-1, 0, 0, 1))


@dataclass(frozen=True)
class Case:
    """A table, how its partition specs came about, and what is asked of the planner.

    `is_ordered`: no bucket takes files of two manifests, whose order Iceberg leaves open. `metrics` are of
    the key column, by path.
    """

    layout: Sequence[Sequence[str]]
    state: IcebergState
    options: dict[str, str]
    is_shuffled: bool
    format_version: int
    is_ordered: bool
    key: KeyColumn = field(default_factory=KeyColumn)
    metrics: Mapping[str, KeyMetrics] = field(default_factory=dict)

    @property
    def action(self) -> Native:
        arguments = {"strategy": "sort"} if self.is_shuffled else {}
        return Native(Command.REWRITE_DATA_FILES, arguments, self.options)

    @property
    def figures(self) -> RewriteOptions:
        return rewrite_options(self.options, self.state.target_file_size_bytes, self.is_shuffled)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    layout, table_target = draw(TABLES)
    options = draw(size_options(table_target)) | draw(delete_options())
    is_shuffled = draw(st.integers(0, 9)) == 0
    if is_shuffled and draw(st.booleans()):
        options["compression-factor"] = draw(st.sampled_from(("0.3", "0.5", "1.7")))
    figures = rewrite_options(options, table_target)
    files = draw(data_files(layout, figures))
    format_version = draw(st.sampled_from((2, 2, 3)))
    deletes = draw(delete_files(layout, files, figures, format_version)) if draw(st.integers(0, 3)) else ()
    key, metrics = draw(KEY_COLUMNS), dict[str, KeyMetrics]()
    if deletes and draw(st.integers(0, 3)):
        compared = [*files, *(delete for delete in deletes if delete.kind is DeleteKind.EQUALITY)]
        metrics = {file.path: draw(key_metrics(key)) for file in compared}
        bounds = {path: keys_of(key, of_file) for path, of_file in metrics.items()}
        files = tuple(replace(file, key_bounds=bounds[file.path]) for file in files)
        deletes = tuple(replace(delete, key_bounds=bounds.get(delete.path)) for delete in deletes)
    is_ordered = bucket_manifests(files, layout) <= 1
    if is_ordered:
        options |= draw(order_options(files, figures, has_one_partition(files)))
    lookback = draw(st.sampled_from((None, None, "1", "2", "3")))
    properties = {} if lookback is None else {"read.split.planning-lookback": lookback}
    state = IcebergState(0, table_target, files, deletes, properties=properties, spec_id=len(layout) - 1)
    return Case(layout, state, options, is_shuffled, format_version, is_ordered, key, metrics)


@st.composite
def position_delete_cases(draw: st.DrawFn) -> Case:
    """Position deletes alone, of the sizes that `cases` has data files of; in version 3 with vectors."""
    layout, table_target = draw(TABLES)
    options = draw(size_options(table_target))
    figures = rewrite_options(options, table_target)
    files = draw(data_files(layout, figures))
    format_version = draw(st.sampled_from((2, 3)))
    kinds = st.sampled_from((POSITION, POSITION, *(DeleteKind.DELETION_VECTOR,) * (format_version == 3)))
    deletes = tuple(
        IcebergDeleteFile(f"d{n}", f.size_bytes, f.rows, f.partition, 1, f.spec_id, f.path, kind=draw(kinds))
        for n, f in enumerate(files)
    )
    is_ordered = len({delete.spec_id for delete in deletes}) == 1
    if is_ordered:
        options |= draw(order_options(files, figures, has_one_partition=False))
    properties = {"write.delete.target-file-size-bytes": str(table_target)}
    state = IcebergState(0, table_target, (), deletes, properties=properties, spec_id=len(layout) - 1)
    return Case(layout, state, options, False, format_version, is_ordered)


def has_one_partition(files: Sequence[IcebergDataFile]) -> bool:
    return len({(f.spec_id, f.partition) for f in files}) <= 1


def bucket_manifests(files: Sequence[IcebergDataFile], layout: Sequence[Sequence[str]]) -> int:
    """The most specs, hence manifests, that the files of one bucket are of."""
    current = len(layout) - 1
    specs = defaultdict(set)
    for f in files:
        specs[bucket_of(f, current)].add(f.spec_id)
    return max(map(len, specs.values()), default=0)


@st.composite
def size_options(draw: st.DrawFn, table_target: int) -> dict[str, str]:
    """Sizes left at their defaults or set, down to a minimum of 0 and a maximum just above the target."""
    options: dict[str, int | str] = {}
    target = draw(st.sampled_from((table_target, table_target, *TARGETS[:2])))
    if target != table_target:
        options["target-file-size-bytes"] = target
    if draw(st.integers(0, 2)) == 0:
        options["min-file-size-bytes"] = draw(st.sampled_from((0, target // 10, target // 2, target - 1)))
    if draw(st.integers(0, 2)) == 0:
        beyond = draw(st.sampled_from((1, 7, target // 8, target // 4, 3 * target)))
        options["max-file-size-bytes"] = target + beyond
    if draw(st.booleans()):
        options["min-input-files"] = draw(st.integers(1, 9))
    if draw(st.integers(0, 3)) == 0:
        options["rewrite-all"] = draw(st.sampled_from(("true", "true", "false")))
    return {name: str(value) for name, value in options.items()}


@st.composite
def delete_options(draw: st.DrawFn) -> dict[str, str]:
    options = {}
    if draw(st.integers(0, 2)) == 0:
        options["delete-file-threshold"] = str(draw(st.sampled_from((1, 1, 2, 2, 3, 0))))
    if draw(st.booleans()):
        options["delete-ratio-threshold"] = draw(st.sampled_from(("0.1", "0.5", "1.0", "0.7", "1e-9")))
    return options


@st.composite
def order_options(
    draw: st.DrawFn, files: Sequence[IcebergDataFile], figures: RewriteOptions, has_one_partition: bool
) -> dict[str, str]:
    """What depends on the order of files, or on that of groups."""
    options: dict[str, int | str] = {}
    if draw(st.booleans()):
        sums = [sum(f.size_bytes for f in files[:n]) for n in range(1, len(files) + 1)]
        cap = draw(st.sampled_from((*sums, figures.target_bytes, figures.max_bytes))) + draw(NEAR)
        options["max-file-group-size-bytes"] = max(cap, 1)
    if draw(st.integers(0, 4)) == 0:
        options["max-file-group-input-files"] = draw(st.integers(1, 5))
    if draw(st.booleans()):
        orders = ("none", "bytes-asc", "bytes-desc", "files-asc", "files-desc", "FILES-desc")
        options["rewrite-job-order"] = draw(st.sampled_from(orders))
    if has_one_partition and draw(st.integers(0, 1)):
        options["max-files-to-rewrite"] = draw(st.integers(1, len(files) + 2))
    return {name: str(value) for name, value in options.items()}


def thresholds(figures: RewriteOptions) -> tuple[int, ...]:
    """Sums at which some decision of the planner changes."""
    low, target, high = figures.min_bytes, figures.target_bytes, figures.max_bytes
    tolerated = [int(n * 1.1 * target) for n in (1, 2, 3)]
    remainders = [n * target + low for n in (1, 2)]
    return (low, target, high, 2 * target, 3 * target, figures.max_output_file_bytes, *tolerated, *remainders)


_VALUES = (("a",), ("a", "b"), ("a", "b", "c"), ("a", "null"), ("null", "x=null"), ("a b", "a+b", "a"))


@st.composite
def data_files(
    draw: st.DrawFn, layout: Sequence[Sequence[str]], figures: RewriteOptions
) -> tuple[IcebergDataFile, ...]:
    """One to fourteen files; a size is a threshold, or what the files before it lack of one."""
    edges = thresholds(figures)
    sums: Counter[tuple[int, str]] = Counter()
    values = draw(st.sampled_from(_VALUES))
    single_spec, is_small = draw(st.booleans()), draw(st.integers(0, 3)) == 0
    spec_ids = st.just(len(layout) - 1) if single_spec else st.integers(0, len(layout) - 1)
    files = []
    for number in range(draw(st.integers(1, 14))):
        spec_id = draw(spec_ids)
        partition = draw(partitions(layout[spec_id], values))
        size = draw(sizes(edges, figures, sums[spec_id, partition], is_small))
        if figures.rewrite_all or not figures.min_bytes <= size <= figures.max_bytes:
            sums[spec_id, partition] += size
        rows, sequence = draw(st.sampled_from((0, 1, 3, 10, 10, 20, 1000))), draw(st.integers(0, 4))
        file = IcebergDataFile(f"f{number}", size, rows, partition, sequence, spec_id, draw(offsets(size)))
        files.append(file)
    return tuple(files)


def partitions(columns: Sequence[str], values: Sequence[str]) -> st.SearchStrategy[str]:
    pairs = [st.sampled_from(values).map(lambda value, name=name: f"{name}={value}") for name in columns]
    return st.tuples(*pairs).map("/".join)


@st.composite
def sizes(draw: st.DrawFn, edges: Sequence[int], figures: RewriteOptions, so_far: int, is_small: bool) -> int:
    """`is_small`: files too few or too small in sum to be merged, or only just enough."""
    kind = draw(st.integers(0, 9))
    edge = draw(st.sampled_from(edges)) + draw(NEAR)
    if is_small:
        missing = figures.target_bytes + draw(NEAR) - so_far
        choices = [figures.target_bytes // n for n in (2, 3, 20)]
        return missing if kind <= 3 and 0 < missing < figures.min_bytes else draw(st.sampled_from(choices))
    if kind <= 2:
        return max(edge, 1)
    if kind <= 5 and edge > so_far:
        return edge - so_far
    if kind == 6:
        return draw(st.integers(2, 24)) * figures.target_bytes + draw(NEAR)
    return draw(st.integers(1, max(figures.min_bytes, 9)))


@st.composite
def offsets(draw: st.DrawFn, size: int) -> tuple[int, ...]:
    """None, one, some in order, some out of order, or one past the end."""
    kind = draw(st.integers(0, 5))
    if kind <= 1 or size < 100:
        return ()
    inner = draw(st.lists(st.integers(4, size - 1), max_size=4, unique=True))
    if kind == 5:
        return (*inner, draw(st.sampled_from((4, size, size + 9))))
    return (draw(st.sampled_from((0, 4))), *sorted(inner)) if kind <= 3 else (4,)


@st.composite
def delete_files(
    draw: st.DrawFn,
    layout: Sequence[Sequence[str]],
    files: Sequence[IcebergDataFile],
    figures: RewriteOptions,
    format_version: int,
) -> tuple[IcebergDeleteFile, ...]:
    deletes = []
    targets = draw(st.lists(st.sampled_from(files), min_size=1, max_size=9))
    has_vector = set()
    for number, file in enumerate(targets):
        drawn = draw(
            st.sampled_from(("equality", "equality", "global", "scoped", "named", "named", "vector"))
        )
        size = draw(st.sampled_from((1, 100, figures.target_bytes // 7, figures.target_bytes)))
        enough_rows = int(file.rows * figures.delete_ratio_threshold)
        rows = max(0, enough_rows + draw(st.sampled_from((-1, 0, 0, 1, 5, 999))))
        sequence = max(file.data_sequence_number + draw(st.sampled_from((-1, 0, 0, 1, 2))), 1)
        spec_id, partition, named = file.spec_id, file.partition, None
        if drawn == "global" and () in layout:
            spec_id, partition = layout.index(()), ""
        if drawn == "vector" and format_version == 3 and file.path not in has_vector:
            has_vector.add(file.path)
            named, kind = file.path, DeleteKind.DELETION_VECTOR
            sequence = max(sequence, file.data_sequence_number)
        elif drawn in ("equality", "global"):
            kind = DeleteKind.EQUALITY
        else:
            kind = POSITION
            named = None if drawn == "scoped" else draw(st.sampled_from((file.path, file.path, "gone")))
        path = f"d{number}"
        deletes.append(IcebergDeleteFile(path, size, rows, partition, sequence, spec_id, named, kind=kind))
    return tuple(deletes)
