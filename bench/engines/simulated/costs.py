"""Modelled costs of operations: coefficients from a file, applied to the work."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field

from bench.errors import ScenarioError, first_error
from bench.results.values import Cost
from strategies.preview import Preview
from strategies.state import MIB
from workloads.schema import Schema

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Bytes = Annotated[int, Field(ge=0)]


def shipped_file(table_format: str) -> Path:
    return Path(__file__).parents[1] / table_format / "coefficients.toml"


@dataclass(frozen=True, slots=True)
class Work:
    """The input of a cost model. A delete file counts once for each data file it applies to.

    `delete_bytes` is the part of `read_bytes` that is in delete files. `rows` are those of the data files; no
    cost depends on them yet.
    """

    files_count: int = 0
    delete_files_count: int = 0
    read_bytes: int = 0
    delete_bytes: int = 0
    written_bytes: int = 0
    tasks_count: int = 1
    rows: int | None = None

    def __add__(self, other: "Work") -> "Work":
        return Work(
            self.files_count + other.files_count,
            self.delete_files_count + other.delete_files_count,
            self.read_bytes + other.read_bytes,
            self.delete_bytes + other.delete_bytes,
            self.written_bytes + other.written_bytes,
            self.tasks_count + other.tasks_count,
        )


class Part(BaseModel):
    """A table of a coefficients file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Operation(Part):
    """Seconds of one kind of operation: `serial` on one core, `task` CPU seconds shared by the cores."""

    serial_s: Seconds = 0.0
    serial_s_per_file: Seconds = 0.0
    task_s_per_file: Seconds = 0.0
    task_s_per_delete_file: Seconds = 0.0
    task_s_per_mib_read: Seconds = 0.0
    task_s_per_mib_delete_read: Seconds = 0.0  # in addition to reading it
    task_s_per_mib_written: Seconds = 0.0


class DataFiles(Part):
    """What a format adds to plain Parquet of the same rows, and the share of the key column.

    A format adds `file_bytes` to each file, and `bytes_per_row` if it has columns of its own.
    """

    file_bytes: Bytes = 0
    bytes_per_row: float = Field(default=0, ge=0, allow_inf_nan=False)
    key_column_ratio: float = Field(default=0.1, ge=0, le=1)  # of a file's bytes; as in Amoro's getCost


class Coefficients(Part):
    """A coefficients file.

    `calibrated` is true if it was fitted to measured runs, which `origin` describes. `caution` is the warning
    that reports print about times computed from it, "" if none is needed.
    """

    table_format: ClassVar[str]

    format: str
    calibrated: bool
    origin: str
    caution: str = ""
    cpu_per_serial_s: float = Field(gt=0, allow_inf_nan=False)
    commit: Operation
    noop_compaction: Operation
    rewrite: Operation
    query_planning: Operation
    query_execution: Operation
    maintenance: Operation
    data: DataFiles = DataFiles()

    def price(self, operation: Operation, work: Work, cores: int) -> Cost:
        """Wall, process CPU and task CPU seconds of `work`. Cores beyond the number of tasks stay idle."""
        serial_s = operation.serial_s + operation.serial_s_per_file * work.files_count
        task_s = (
            operation.task_s_per_file * work.files_count
            + operation.task_s_per_delete_file * work.delete_files_count
            + operation.task_s_per_mib_read * work.read_bytes / MIB
            + operation.task_s_per_mib_delete_read * work.delete_bytes / MIB
            + operation.task_s_per_mib_written * work.written_bytes / MIB
        )
        wall_s = serial_s + task_s / max(1, min(cores, work.tasks_count))
        return Cost(wall_s, self.cpu_per_serial_s * serial_s + task_s, task_s)

    def rewrite_cost(
        self,
        preview: Preview,
        cores: int,
        written_bytes: int | None = None,
        conversion: Work | None = None,
        *,
        commits_nothing: bool = False,
    ) -> Cost:
        """The cost of a previewed rewrite. By default it writes as many bytes of data files as it reads.

        A `conversion` of deletes is part of the same commit. `commits_nothing`: there is a commit even if no
        data file is rewritten.
        """
        if not preview.groups and conversion is None and not commits_nothing:
            return self.price(self.noop_compaction, Work(), cores)
        delete_bytes = sum(group.delete_bytes for group in preview.groups)
        rewriting = Work(
            files_count=preview.files_removed_count,
            delete_files_count=sum(group.delete_files_count for group in preview.groups),
            read_bytes=preview.read_data_bytes + delete_bytes,
            delete_bytes=delete_bytes,
            written_bytes=preview.read_data_bytes if written_bytes is None else written_bytes,
            tasks_count=preview.files_added_count,
        )
        work = rewriting if conversion is None else rewriting + conversion
        return self.price(self.rewrite, work, cores)

    def table_bytes(self, schema: Schema, rows: int, files: int = 1) -> int:
        added = files * self.data.file_bytes + round(rows * self.data.bytes_per_row)
        return schema.expected_bytes(rows, files) + added

    @classmethod
    def read(cls, path: Path | None = None) -> Self:
        """The coefficients in a file; None is the one that ships with the format.

        Raises ScenarioError.
        """
        shipped = shipped_file(cls.table_format)
        file = path or shipped
        try:
            coefficients = cls.model_validate(tomllib.loads(file.read_text(encoding="utf-8-sig")))
        except OSError as error:
            raise ScenarioError(
                f"cannot be read ({error.strerror}); name a coefficients file", code="unreadable", path=file
            ) from error
        except ValueError as error:  # also pydantic's, and text that is not TOML
            raise ScenarioError(
                f"{first_error(error)}; compare with {shipped}", code="invalid", path=file
            ) from error
        if coefficients.format != cls.table_format:
            raise ScenarioError(
                f'format = "{coefficients.format}", but the table is {cls.table_format}: choose another file',
                code="mismatch",
                path=file,
            )
        return coefficients
