"""An existing Iceberg table, found in a catalog by its name or by its location.

PyIceberg reads it: neither Java nor Spark is needed, and nothing is written.
"""

import re
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from pyarrow.fs import FileSelector
from pydantic import ValidationError as Invalid
from pyiceberg.catalog import Catalog, list_catalogs, load_catalog
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError, NotInstalledError, ValidationError
from pyiceberg.io import FileIO, load_file_io
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.table import StaticTable, Table
from pyiceberg.table.snapshots import Snapshot

from bench.engines.existing import DeleteFacts, Shortfall, TableAddress, TableFacts, committed_text
from bench.engines.iceberg.folder import METADATA_SUFFIX
from bench.engines.iceberg.history import read_history
from bench.engines.iceberg.state import matching_paths, table_state
from bench.engines.keys import value_text
from bench.errors import ScenarioError
from bench.secrets import Secrets
from bench.text import human_bytes
from strategies.iceberg.commands import Command
from strategies.iceberg.dropped_deletes import dropped_by
from strategies.iceberg.files import DeleteKind, IcebergState
from strategies.iceberg.rewrite_options import rewrite_options
from strategies.plan import Action, Native, Rewrite, describe_action, state_as
from strategies.planner import Planner
from strategies.preview import Preview
from strategies.state import TableState
from workloads.history_file import TableHistory

MAIN = "main"  # the branch that is read by default

# Upper ends of size classes as fractions of the target: below 0.75 and above 1.8 Iceberg's planner considers
# a file too small or too large (SizeBasedFileRewritePlanner); the others divide the small files.
SIZE_CLASSES = (0.01, 0.1, 0.75, 1.8)

_VERSION = re.compile(r"v?(\d+)[-.]")  # of v12.metadata.json (Hadoop tables), 00012-<uuid>.metadata.json
_NAMES_SHOWN = 5
_ERROR_LENGTH_MAX = 200
_CONFIGURE = (
    "give --catalog-property uri=..., or set PYICEBERG_CATALOG__{variable}__URI, or configure it in "
    "~/.pyiceberg.yaml"
)


@dataclass(frozen=True, slots=True)
class IcebergTable:
    """A table and its state at one snapshot; the snapshot is None for a table without commits."""

    table: Table
    snapshot: Snapshot | None
    state: IcebergState
    branch: str

    @property
    def facts(self) -> TableFacts:
        return TableFacts(
            location=self.table.location(),
            metadata=self.table.metadata_location,
            format_version=self.table.metadata.format_version,
            version=self.state.version,
            committed_at=committed_text(self.snapshot.timestamp_ms if self.snapshot else None),
            partition_spec=_spec_text(self.table),
            columns=self.table.schema().column_names,
            delete_files=[
                DeleteFacts.of(kind.value, [file for file in self.state.delete_files if file.kind is kind])
                for kind in DeleteKind
            ],
            size_classes=SIZE_CLASSES,
        )

    def matching(self, where: str) -> frozenset[str]:
        """The data files that may hold rows of `where`. Raises ScenarioError if it cannot be evaluated."""
        if self.snapshot is None:
            return frozenset()
        try:
            return matching_paths(self.table, self.snapshot, where)
        except Exception as error:  # from the parser, the binding to the schema, or storage
            raise ScenarioError(
                f"the files that {value_text(where)} matches cannot be determined: "
                f"{_cause(error, self.table.io.properties)}; write it with =, <, >, IN, IS NULL, AND, OR and "
                "NOT over columns and literals, or leave it out",
                code="unsupported",
                path="where",
            ) from error

    def narrowed(self, action: Action) -> tuple[Action, IcebergState]:
        if not isinstance(action, Native) or action.command != Command.REWRITE_DATA_FILES:
            return action, self.state
        where, branch = action.arguments.get("where"), action.arguments.get("branch")
        if branch is not None and branch != self.branch:
            raise ScenarioError(
                f"{describe_action(action)}: the table was read at another branch; give --branch {branch}",
                code="mismatch",
            )
        arguments = {key: text for key, text in action.arguments.items() if key not in ("where", "branch")}
        state = self.state
        if where is not None:
            paths = self.matching(where)
            state = replace(state, data_files=tuple(f for f in state.data_files if f.path in paths))
        return replace(action, arguments=arguments), state

    def shortfall(self, action: Action, state: TableState) -> Shortfall | None:
        """The thresholds of `rewrite_data_files` that exclude every file; None for any other action."""
        if isinstance(action, Rewrite) or (
            isinstance(action, Native) and action.command != Command.REWRITE_DATA_FILES
        ):
            return None
        table = state_as(IcebergState, state)
        options = rewrite_options(action.options, state.target_file_size_bytes)
        candidates = Counter(
            file.partition if file.spec_id == table.spec_id else None  # older specs share one group
            for file in table.data_files
            if not options.is_right_size(file.size_bytes)
        )
        needed_count = max(2, options.min_input_files)  # one file alone is not merged
        for_deletes = (
            ", and no file has enough deletes to be rewritten for them" if table.delete_files else ""
        )
        return Shortfall(
            files_count=len(table.data_files),
            candidates_count=candidates.total(),
            candidates_together_count=max(candidates.values(), default=0),
            candidates_are=f"below {human_bytes(options.min_bytes)} "
            f"or above {human_bytes(options.max_bytes)}",
            needs=f"a rewrite needs {needed_count:,} files of a partition (min-input-files), "
            f"or 2 that exceed {human_bytes(options.target_bytes)} together{for_deletes}",
            thresholds={
                "min_bytes": options.min_bytes,
                "max_bytes": options.max_bytes,
                "needed_count": needed_count,
                "target_bytes": options.target_bytes,
            },
        )

    def planner_problem(self, planner: Planner) -> str | None:
        """None: `narrowed` refuses predicates that cannot be evaluated."""
        return None

    def dropped_deletes(self, action: Action, preview: Preview) -> Collection[str]:
        """The delete files that any commit of a rewrite drops, and with an option the dangling ones."""
        number = 0 if self.snapshot is None else self.snapshot.sequence_number or 0
        if isinstance(action, Rewrite):
            return dropped_by(preview, {}, self.state, number).difference(action.removed_deletes)
        return dropped_by(preview, action.options, self.state, number)

    def is_files_out_exact(self, preview: Preview) -> bool:
        """Not for files of an older partition spec, which are shuffled by partition before the write."""
        spec_id = self.state.spec_id
        current = {file.path for file in self.state.data_files if file.spec_id == spec_id}
        return all(file.path in current for group in preview.groups for file in group.files)

    def is_deletes_exact(self) -> bool:
        """Not if equality deletes have no bounds, because they compare several columns, or UUIDs."""
        deletes = self.state.delete_files
        return not any(file.kind is DeleteKind.EQUALITY and file.key_bounds is None for file in deletes)


def _spec_text(table: Table) -> str:
    """How new files are partitioned, e.g. "day(ts), bucket[8](id), city"; "" for an unpartitioned table."""
    parts = []
    for part in table.spec().fields:
        column = table.schema().find_column_name(part.source_id) or part.name
        parts.append(column if str(part.transform) == "identity" else f"{part.transform}({column})")
    return ", ".join(parts)


def open_existing(address: TableAddress) -> IcebergTable:
    """The table at the head of a branch, by default `main`. Raises ScenarioError."""
    table = _find_table(_for_pyiceberg(address))
    snapshot = _snapshot(table, address.name, address.branch)
    with _explained(address.name, table.io.properties):
        state = table_state(table, snapshot, round(time.time() * 1000))
    return IcebergTable(table, snapshot, state, address.branch or MAIN)


def import_history(address: TableAddress, since_ms: int | None) -> TableHistory:
    """The history of a table's branch, by default `main`. Raises ScenarioError."""
    table = _find_table(_for_pyiceberg(address))
    snapshot = _snapshot(table, address.name, address.branch)
    with _explained(address.name, table.io.properties):
        return read_history(table, snapshot, since_ms)


def _for_pyiceberg(address: TableAddress) -> TableAddress:
    """The address with the catalog that the user names, or the scenario's, configured for PyIceberg.

    Raises ScenarioError if Spark's configuration cannot be translated.
    """
    chosen = address.scenario_catalog
    if chosen is None:
        return address
    properties = {**_translated(chosen.properties, address.properties), **address.properties}
    return replace(address, catalog=address.catalog or chosen.name, properties=properties)


def _find_table(address: TableAddress) -> Table:
    """The table with a name ("namespace.table"), in a folder, or with one of its metadata files."""
    name_or_path = _hadoop_folder(address) or address.name
    if _is_path(name_or_path, address):
        with _explained(name_or_path, address.properties):
            location, properties = name_or_path.rstrip("/"), dict(address.properties)
            if not location.endswith(METADATA_SUFFIX):
                location = _newest_metadata(location, properties)
            try:
                return StaticTable.from_metadata(location, properties)
            except ValidationError as error:  # its text has the whole document
                problem = "is no valid metadata file of Iceberg: name an earlier one"
                raise ScenarioError(problem, code="damaged", path=location) from error
    catalog, name = _catalog(address), _full_name(address)
    with _explained(name, catalog.properties):
        problem = "write namespace.table, or the path of the table's folder"
        if "." in name:
            try:
                return catalog.load_table(name)
            except (NoSuchTableError, NoSuchNamespaceError):
                problem = f"the catalog {catalog.name} has no such table"
        near = _nearest_tables(catalog, name)
        raise ScenarioError(f"{problem}; {near}", code="unknown-name", path=name)


def _full_name(address: TableAddress) -> str:
    """With the scenario's namespace if the name has none."""
    chosen = address.scenario_catalog
    return address.name if chosen is None or "." in address.name else f"{chosen.namespace}.{address.name}"


def _snapshot(table: Table, name: str, branch: str | None) -> Snapshot | None:
    """The head of a branch, None before its first commit. Raises ScenarioError."""
    snapshot = table.snapshot_by_name(branch) if branch else table.current_snapshot()
    _check_listed(table, name, branch or MAIN, snapshot)
    if branch and branch != MAIN and snapshot is None:
        known = ", ".join(sorted({MAIN, *table.metadata.refs}))
        raise ScenarioError(
            f"{name} has no branch {branch}; known: {known}", code="unknown-name", path="--branch"
        )
    return snapshot


def _check_listed(table: Table, name: str, branch: str, snapshot: Snapshot | None) -> None:
    """A branch whose snapshot the metadata does not list is damaged, not empty."""
    reference = table.metadata.refs.get(branch)
    head = table.metadata.current_snapshot_id if branch == MAIN else None
    wanted = head if reference is None else reference.snapshot_id
    if snapshot is None and wanted is not None:
        raise ScenarioError(
            f"{table.metadata_location} does not list snapshot {wanted}, the head of {branch}, and so is "
            "damaged; name another of the table's metadata files",
            code="damaged",
            path=name,
        )


def _is_path(text: str, address: TableAddress) -> bool:
    named = address.catalog is not None or bool(address.properties)
    return "/" in text or text.endswith(METADATA_SUFFIX) or (not named and Path(text).is_dir())


def _catalog(address: TableAddress) -> Catalog:
    name, properties = address.catalog or "default", address.properties
    what = f"--catalog {name}" if address.catalog else "the default catalog"
    with _explained(what, properties):
        known = list_catalogs()
        if not properties and name.lower() not in known:
            listed = f"; configured: {', '.join(sorted(known))}" if known else ""
            remedy = _CONFIGURE.format(variable=name.upper().replace("-", "_"))
            raise ScenarioError(f"{what} is not configured: {remedy}{listed}", code="not-configured")
        _check_database(properties.get("uri", ""))
        # A catalog in a database would create its own tables there, and a preview writes nothing.
        return load_catalog(address.catalog, **{**properties, "init_catalog_tables": "false"})


def _check_database(uri: str) -> None:
    """Keeps SQLite from creating a missing file."""
    path = uri.removeprefix("sqlite:///")
    if path != uri and not Path(path).is_file():
        raise ScenarioError(
            f"uri={uri}: no such file; name the catalog's database",
            code="file-missing",
            path="--catalog-property",
        )


def _nearest_tables(catalog: Catalog, name: str) -> str:
    """The table names closest to `name`, or a note that there are none."""
    namespace, _, _ = name.rpartition(".")
    try:
        spaces = [".".join(parts) for parts in catalog.list_namespaces()]
        chosen = [namespace] if namespace in spaces else spaces
        names = [".".join(parts) for space in chosen for parts in catalog.list_tables(space)]
    except Exception:  # a catalog may raise anything, and the table is missing anyway
        return "this catalog cannot list its tables"
    near = get_close_matches(name, names, n=_NAMES_SHOWN, cutoff=0.4) or sorted(names)[:_NAMES_SHOWN]
    if near:
        return f"nearest: {', '.join(near)}"
    return "it holds no tables; a SQL catalog stores them under its own name: pass that with --catalog"


def _newest_metadata(folder: str, properties: dict[str, str]) -> str:
    """The current metadata file of the table in a folder, as Iceberg's HadoopTableOperations finds it.

    The version hint of a Hadoop table may lag behind, so later versions are searched, too. Tables of other
    catalogs have no hint: their current file is the latest one of the highest version.
    """
    io = load_file_io(properties, location=folder)
    names = _listed(folder, io)
    version = _hinted_version(folder, io)
    if version is not None and f"v{version}{METADATA_SUFFIX}" in names:
        while f"v{version + 1}{METADATA_SUFFIX}" in names:
            version += 1
        return f"{folder}/metadata/v{version}{METADATA_SUFFIX}"
    if not names:
        raise ScenarioError(
            f"not an Iceberg table: its metadata/ folder has no *{METADATA_SUFFIX}; give the table's own "
            "folder, the path of such a file, or the table's name with --catalog",
            code="not-a-table",
            path=folder,
        )
    newest = max(names, key=lambda name: (_version_of(name), names[name]))
    return f"{folder}/metadata/{newest}"


def _listed(folder: str, io: FileIO) -> dict[str, int]:
    """The metadata files of a table by name, with their modification times in nanoseconds."""
    if not isinstance(io, PyArrowFileIO):
        raise ScenarioError(
            f"cannot be listed; give the path of its *{METADATA_SUFFIX}", code="unreadable", path=folder
        )
    scheme, netloc, path = io.parse_location(f"{folder}/metadata", io.properties)
    selector = FileSelector(path, allow_not_found=True)
    files = io.fs_by_scheme(scheme, netloc).get_file_info(selector)
    return {file.base_name: file.mtime_ns or 0 for file in files if file.base_name.endswith(METADATA_SUFFIX)}


def _hinted_version(folder: str, io: FileIO) -> int | None:
    hint = io.new_input(f"{folder}/metadata/version-hint.text")
    if not hint.exists():
        return None
    with hint.open() as stream:
        text = stream.read().decode(errors="replace").strip()
    return int(text) if text.isdecimal() else None


def _version_of(name: str) -> int:
    version = _VERSION.match(name)
    return int(version[1]) if version else -1


def _hadoop_folder(address: TableAddress) -> str | None:
    """The folder of a table in a Hadoop catalog, which PyIceberg does not support: warehouse and name."""
    if address.properties.get("type") != "hadoop" or "/" in address.name:
        return None
    if "warehouse" not in address.properties:
        raise ScenarioError(
            "type=hadoop needs a warehouse: give --catalog-property warehouse=...",
            code="missing",
            path="--catalog-property",
        )
    return f"{address.properties['warehouse'].rstrip('/')}/{_full_name(address).replace('.', '/')}"


def _translated(properties: Mapping[str, str], overrides: Mapping[str, str]) -> dict[str, str]:
    """A catalog's Spark configuration in PyIceberg's terms, which differ only for JDBC."""
    if "type" in overrides:
        return dict(properties)
    if "catalog-impl" in properties:
        raise ScenarioError(
            f"{properties['catalog-impl']} is a Java class: give its kind as --catalog-property type=... "
            "(rest, hive, glue, dynamodb, sql, bigquery)",
            code="unsupported",
            path="catalog.properties.catalog-impl",
        )
    if properties.get("type") != "jdbc":
        return dict(properties)
    uri = properties.get("uri", "")
    if not uri.startswith("jdbc:sqlite:"):
        raise ScenarioError(
            "PyIceberg cannot use this JDBC URI; give --catalog-property type=sql and "
            "--catalog-property uri=... with the SQLAlchemy URI, e.g. postgresql+psycopg2://USER@HOST/DB",
            code="unsupported",
            path="catalog.properties.type",
        )
    return {**properties, "type": "sql", "uri": uri.replace("jdbc:sqlite:", "sqlite:///", 1)}


@contextmanager
def _explained(what: str, properties: Mapping[str, str]) -> Iterator[None]:
    """Turns any error of a catalog, a file system or damaged metadata into one line with a remedy."""
    try:
        yield
    except ScenarioError:
        raise
    except (NotInstalledError, ImportError) as error:
        cause = _cause(error, properties)
        raise ScenarioError(
            f"{cause}; install it next to compactbench", code="package-missing", path=what
        ) from error
    except (FileNotFoundError, EOFError, KeyError, ValueError, ValidationError) as error:
        raise ScenarioError(
            f"cannot be read: {_cause(error, properties)}; check the path and the configuration",
            code="unreadable",
            path=what,
        ) from error
    except Exception as error:  # drivers of catalogs and file systems raise their own types
        raise ScenarioError(
            f"cannot be reached: {type(error).__name__}: {_cause(error, properties)}; check the address, the "
            "network and the credentials",
            code="unreachable",
            path=what,
        ) from error


def _cause(error: Exception, properties: Mapping[str, str]) -> str:
    """An error on one line, without secrets.

    Validation errors omit the invalid values, which may be credentials that a catalog has vended.
    """
    text = str(error)
    if isinstance(error, Invalid):
        text = "; ".join(f"{'.'.join(map(str, part['loc']))}: {part['msg']}" for part in error.errors())
    text = " ".join(Secrets.of(properties).scrub(text).split()) or type(error).__name__
    return text if len(text) <= _ERROR_LENGTH_MAX else f"{text[:_ERROR_LENGTH_MAX]}..."
