"""Modelled costs of operations: coefficients from a file, applied to the amounts of work of a step."""

import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from bench.engines.simulated.rolling import rows_of_a_full_file
from bench.engines.simulated.steps import COEFFICIENTS, PLANNING_OF, QUERIES, Operation, Step
from bench.errors import ScenarioError, first_error
from bench.results.values import Cost, Session
from workloads.schema import Schema

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]
Bytes = Annotated[int, Field(ge=0)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Range = Annotated[tuple[Amount, Amount], Field(strict=False)]  # TOML has lists

# After this many CPU seconds of a JVM, half of what a cold one costs more is over. By eye, from the shares of
# compiler threads in the published runs.
COLD_CPU_S = 20.0
# A machine that takes four times as long for the fixed work takes twice as long for the work of Spark, which
# waits less for memory. With 0.5 the errors of streams that were left out are least over all formats; with 1
# they are greater than without.
_FIXED_WORK_POWER = 0.5


def shipped_file(table_format: str) -> Path:
    return Path(__file__).parents[1] / table_format / "coefficients.toml"


def core_speed(fixed_work_cpu_s: float | None, fitted_work_cpu_s: float | None) -> float:
    """How fast the cores of a machine are, by the CPU of the fixed work (`bench.replay.fixed_work`) on it.

    It is relative to the machine of the coefficients, on which it takes `fitted_work_cpu_s`; 1 if either is
    not known.
    """
    if fixed_work_cpu_s is None or fitted_work_cpu_s is None:
        return 1.0
    return float((fitted_work_cpu_s / fixed_work_cpu_s) ** _FIXED_WORK_POWER)


class Part(BaseModel):
    """A table of a coefficients file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


_Coefficients = Mapping[str, Seconds]


class StepSeconds(NamedTuple):
    """CPU of the tasks and of the driver, and wall time beside the tasks: see `OperationCost`.

    They follow from the amounts of work alone; what the JVM has still to compile comes on top.
    """

    task_s: float
    driver_s: float
    wall_s: float
    tasks_count: int


class OperationCost(Part):
    """Seconds of one kind of operation, by what a unit of work costs (see `steps.COEFFICIENTS`).

    `tasks` is CPU that the cores share, `driver` CPU of the rest of the process, and `wall` the time beside
    the tasks, to which a cold JVM adds `cold_wall_s`. The compiler's threads take a share of that CPU,
    `compiler` in a warm JVM and `compiler` + `cold_compiler` in a new one. `steps` is how many measured steps
    these were fitted to, 0 if they were set by hand, and `ranges` are the least and the greatest amounts of
    these steps.
    """

    steps: int = Field(default=0, ge=0)
    tasks: _Coefficients = {}
    driver: _Coefficients = {}
    wall: _Coefficients = {}
    cold_wall_s: Seconds = 0.0
    compiler: Share = 0.0
    cold_compiler: Share = 0.0
    ranges: Mapping[str, Range] = {}

    @property
    def parts(self) -> Mapping[str, _Coefficients]:
        return {"tasks": self.tasks, "driver": self.driver, "wall": self.wall}

    def cost(self, step: Step, cores: int, jvm_cpu_s: float) -> Cost:
        """The JVM has used `jvm_cpu_s` so far."""
        return self.cost_of(self.seconds(step), cores, jvm_cpu_s)

    def seconds(self, step: Step) -> StepSeconds:
        amounts = step.amounts
        task_s, driver_s = _sum(self.tasks, amounts), _sum(self.driver, amounts)
        return StepSeconds(task_s, driver_s, _sum(self.wall, amounts), step.tasks_count)

    def cost_of(self, seconds: StepSeconds, cores: int, jvm_cpu_s: float) -> Cost:
        """The cost of a step that takes these `seconds`."""
        cpu_s = seconds.task_s + seconds.driver_s
        compiler = self.compiler + coldness_of(jvm_cpu_s) * self.cold_compiler
        jit_s = compiled_cpu_s(cpu_s) * compiler
        return Cost(self.wall_s_of(seconds, cores, jvm_cpu_s), cpu_s + jit_s, seconds.task_s, jit_s)

    def wall_s_of(self, seconds: StepSeconds, cores: int, jvm_cpu_s: float) -> float:
        """Cores beyond the number of tasks stay idle."""
        cold_s = coldness_of(jvm_cpu_s) * self.cold_wall_s
        return seconds.wall_s + cold_s + seconds.task_s / parallelism(cores, seconds.tasks_count)


def coldness_of(jvm_cpu_s: float) -> float:
    """How much of its code a JVM has still to compile: 1 at the start."""
    return COLD_CPU_S / (COLD_CPU_S + jvm_cpu_s)


def parallelism(cores: int, tasks_count: int) -> int:
    return max(1, min(cores, tasks_count))


def compiled_cpu_s(cpu_s: float) -> float:
    """The CPU of a step that the compiler's share is of: a long step runs the same code again and again."""
    return min(cpu_s, 1 + cpu_s / 10)


def _sum(coefficients: Mapping[str, float], amounts: Mapping[str, float]) -> float:
    total_s = 0.0  # `sum` over a generator takes longer, and this runs millions of times
    for name, seconds in coefficients.items():
        total_s += seconds * amounts.get(name, 0)
    return total_s


class ModelError(Part):
    """How far a figure of runs, or the CPU of an operation, is off on streams that are left out of the fit.

    It is that of seconds alone, given the work that the real runs did: `mean_absolute` is the mean of
    |modelled / measured - 1| over `strategies` of that many `streams`. Prediction intervals follow from
    `log_sd`, the root of the mean square of log(modelled / measured), and `ratio_log_sd`, that of the ratio
    of two strategies of a stream. In them each of the `streams`, or of the `ratio_streams` with two
    strategies or more, weighs the same. None without any.
    `unpredicted` strategies do something that no other stream does, or far more of it.
    `repeat_log_sd` is the noise beside it: the standard deviation of the logs of single measured runs around
    the mean of their sitting; None if no strategy was repeated.
    """

    mean_absolute: Amount | None = None
    log_sd: Amount | None = None
    ratio_log_sd: Amount | None = None
    strategies: int = Field(default=0, ge=0)
    streams: int = Field(default=0, ge=0)
    ratio_streams: int = Field(default=0, ge=0)
    unpredicted: int = Field(default=0, ge=0)
    repeat_log_sd: Amount | None = None


class Writer(Part):
    """How a writer's files end (`rolling`): a value of a row takes `buffered_value_bytes` in its buffers.

    A format adds `own_columns` to the columns of a table. The writer looks every `checked_rows` rows.
    """

    buffered_value_bytes: float = Field(gt=0, allow_inf_nan=False)
    own_columns: int = Field(default=0, ge=0)
    checked_rows: int = Field(default=1, gt=0)


class DataFiles(Part):
    """What a format adds to plain Parquet of the same rows.

    A format adds `file_bytes` to each file and `bytes_per_column` for each column of the table, and
    `bytes_per_row` if it has columns of its own. `codec_ratios` are the bytes of files with a codec over
    those with zstd; codecs that are not known count as zstd.
    """

    file_bytes: Bytes = 0
    bytes_per_column: float = Field(default=0, ge=0, allow_inf_nan=False)
    bytes_per_row: float = Field(default=0, ge=0, allow_inf_nan=False)
    codec_ratios: Mapping[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = {}

    def codec_ratio(self, codec: str) -> float:
        return self.codec_ratios.get(codec, 1.0)


# Operations of every format.
COMMON = frozenset(
    {
        Operation.COMMIT, Operation.REWRITE, Operation.SORT, Operation.NOOP, Operation.QUERY,
        Operation.PLANNING, Operation.MAINTENANCE,
    }
)  # fmt: skip


def _known(operations: Mapping[str, OperationCost]) -> Mapping[str, OperationCost]:
    for name, cost in operations.items():
        if name not in COEFFICIENTS:
            raise ValueError(f"no such operation: {name}; choose from {', '.join(COEFFICIENTS)}")
        known = COEFFICIENTS[Operation(name)]
        for unknown in _names(cost) - {*known}:
            raise ValueError(f"{name} has no {unknown}; choose from {', '.join(known)}")
    return operations


def _names(cost: OperationCost) -> set[str]:
    return {name for part in cost.parts.values() for name in part} | cost.ranges.keys()


class Coefficients(Part):
    """A coefficients file.

    `origin` says what it was fitted to, on at most so many `cores`. `caution` is a warning that reports print
    about times computed from it, "" if none is needed. Its seconds are those of a machine on which the fixed
    work takes `fixed_work_cpu_s` of CPU; None if no run measured that.
    """

    table_format: ClassVar[str]
    needed: ClassVar[frozenset[Operation]]  # operations of the format

    format: str
    origin: str
    cores: int | None = None
    fixed_work_cpu_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    caution: str = ""
    operations: Annotated[Mapping[str, OperationCost], AfterValidator(_known)]
    errors: Mapping[str, ModelError] = {}  # by figure
    operation_errors: Mapping[str, ModelError] = {}  # of CPU, by operation
    data: DataFiles = DataFiles()
    writer: Writer | None = None  # None if its files end only with the task

    def price(self, step: Step, cores: int, jvm_cpu_s: float = float("inf")) -> Cost:
        """Wall, process CPU, task CPU and compiler CPU seconds of a step; by default in a warm JVM."""
        return self.operations[step.operation].cost(step, cores, jvm_cpu_s)

    @property
    def sessions(self) -> tuple[Session, ...]:
        """Whose queries have costs: new sessions always, others if they were measured."""
        known = self.operations.keys()
        return tuple(session for session, query in QUERIES.items() if {query, PLANNING_OF[query]} <= known)

    def is_fitted(self, operation: Operation) -> bool:
        """Whether the operation was fitted to measured steps."""
        return self.operations[operation].steps > 0

    def table_bytes(self, schema: Schema, rows: int, files: int = 1, codec: str = "zstd") -> int:
        if schema.of_table:
            return schema.expected_bytes(rows, files)
        of_file = self.data.file_bytes + round(self.data.bytes_per_column * len(schema.columns))
        added = files * of_file + round(rows * self.data.bytes_per_row)
        return round((schema.expected_bytes(rows, files) + added) * self.data.codec_ratio(codec))

    def row_bytes(self, schema: Schema, codec: str = "zstd") -> float:
        """Of a file whose size grows in proportion to its rows."""
        sizes = [self.table_bytes(schema, rows, codec=codec) for rows in (100_000, 200_000)]
        return (sizes[1] - sizes[0]) / 100_000

    def full_file_rows(self, schema: Schema, max_bytes: int, codec: str = "zstd") -> int:
        """After how many rows a writer of compactions starts another file."""
        if self.writer is None:
            return sys.maxsize
        row_bytes = self.row_bytes(schema, codec)
        columns = len(schema.columns) + self.writer.own_columns
        buffered_bytes = max(columns * self.writer.buffered_value_bytes, row_bytes)
        return rows_of_a_full_file(max_bytes, row_bytes, buffered_bytes, self.writer.checked_rows)

    def to_json(self) -> JsonValue:
        return self.model_dump(mode="json")

    @classmethod
    def read(cls, path: Path | None = None) -> Self:
        """The coefficients in a file; None is the one that ships with the format.

        Raises ScenarioError.
        """
        shipped = shipped_file(cls.table_format)
        file = path or shipped
        try:
            document = tomllib.loads(file.read_text(encoding="utf-8-sig"))
            of_format = document.get("format", cls.table_format)
            if of_format != cls.table_format:
                problem = f'format = "{of_format}", but the table is {cls.table_format}: choose another file'
                raise ScenarioError(problem, code="mismatch", path=file)
            coefficients = cls.model_validate(document)
        except OSError as error:
            raise ScenarioError(
                f"cannot be read ({error.strerror}); name a coefficients file", code="unreadable", path=file
            ) from error
        except ValueError as error:  # also pydantic's, and text that is not TOML
            raise ScenarioError(
                f"{first_error(error)}; compare with {shipped}", code="invalid", path=file
            ) from error
        if missing := _in_words(cls.needed - coefficients.operations.keys()):
            raise ScenarioError(
                f"has no [operations.{missing}]; compare with {shipped}", code="invalid", path=file
            )
        return coefficients


def _in_words(operations: Iterable[Operation]) -> str:
    return "], [operations.".join(sorted(operations))
