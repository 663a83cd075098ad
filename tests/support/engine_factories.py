"""The engines the contract suite runs over, which of them a test is for, and markers for what one lacks."""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import delta_sheets
import hudi_sheets
import iceberg_sheets
import pytest
from engine_sheet import EngineSheet

from bench.engines import runtime
from bench.engines.registry import engine_kind
from strategies.plan import Capability


class EngineKey(NamedTuple):
    """An engine by its format and the mode it runs that in.

    With an executor, the engine executes by it what it can; the tests of rewrites run with it too.
    """

    table_format: str
    mode: Literal["real", "simulated"]
    executor: str = ""

    @property
    def id(self) -> str:
        return "-".join(filter(None, self))

    @property
    def is_real(self) -> bool:
        """Whether it is on Spark, with rows in its tables."""
        return self.mode == "real"

    @property
    def capabilities(self) -> frozenset[str]:
        """Those its format declares of the engine."""
        return engine_kind(self.table_format, self.mode).capabilities


SHEETS: Mapping[EngineKey, EngineSheet] = {
    EngineKey("delta", "real"): delta_sheets.REAL,
    EngineKey("delta", "simulated"): delta_sheets.SIMULATED,
    EngineKey("hudi", "real"): hudi_sheets.REAL,
    EngineKey("hudi", "simulated"): hudi_sheets.SIMULATED,
    EngineKey("iceberg", "real"): iceberg_sheets.REAL,
    EngineKey("iceberg", "real", "single-node"): iceberg_sheets.SINGLE_NODE_REAL,
    EngineKey("iceberg", "simulated"): iceberg_sheets.SIMULATED,
}

_EXTENSIONS = "spark.sql.extensions"  # one setting, which the formats share

SIMULATED = tuple(key for key in SHEETS if not key.is_real)


def shared_session(folder: Path) -> tuple[tuple[Path, ...], dict[str, str]]:
    """The jars and the configuration of one Spark session that every real engine can use."""
    real = [key for key in SHEETS if key.is_real]
    confs = [SHEETS[key].session_conf(folder) for key in real]
    extensions = [conf[_EXTENSIONS] for conf in confs if _EXTENSIONS in conf]
    merged: dict[str, str] = {}
    for name, value in (item for conf in confs for item in conf.items() if item[0] != _EXTENSIONS):
        if merged.setdefault(name, value) != value:
            raise ValueError(f"{name} is {merged[name]} for one format and {value} for another")
    jars = dict.fromkeys(jar for key in real for jar in runtime.jars(key.table_format))
    return tuple(jars), {**merged, _EXTENSIONS: ",".join(extensions)}


def needs(*capabilities: str, answer: str | None = None) -> pytest.MarkDecorator:
    """Run on the engines that have the capabilities and, of their sheets, the answer."""
    return pytest.mark.needs(capabilities=frozenset(capabilities), answer=answer)


def of_format(name: str) -> pytest.MarkDecorator:
    """Run on the engines of one format."""
    return pytest.mark.of_format(name)


def engines_for(marks: Iterable[pytest.Mark]) -> list[EngineKey]:
    """The engines that a test with these marks runs on.

    Raises ValueError where there is none: such a test would pass without a run.
    """
    marks = list(marks)
    needed = frozenset[str]().union(*(m.kwargs["capabilities"] for m in marks if m.name == "needs"))
    chosen = [key for key in SHEETS if not key.executor or Capability.REWRITE in needed]
    found = [key for key in chosen if all(_admits(mark, key) for mark in marks)]
    if not found:
        raise ValueError("no engine has what the test asks for")
    return found


def _admits(mark: pytest.Mark, key: EngineKey) -> bool:
    match mark.name:
        case "needs":
            answer = mark.kwargs["answer"]
            can = mark.kwargs["capabilities"] <= key.capabilities
            return can and (answer is None or getattr(SHEETS[key], answer) is not None)
        case "of_format":
            return key.table_format == mark.args[0]
        case _:
            return True


def engine_params(marks: Iterable[pytest.Mark]) -> list[Any]:
    """The engines a test runs on, as parameters."""
    return [
        pytest.param(key, id=key.id, marks=[pytest.mark.spark] if key.is_real else [])
        for key in engines_for(marks)
    ]


def _gap(kind: str, *engines: EngineKey, reason: str, raises: type[BaseException]) -> pytest.MarkDecorator:
    if not reason or not engines:
        raise ValueError(f"{kind} needs engines and a reason")
    return pytest.mark.gap(engines=engines, reason=f"{kind}: {reason}", raises=raises)


notimpl = partial(_gap, "notimpl")  # the engine could do it, and we have not built it
notyet = partial(_gap, "notyet")  # the format, or its release we use, does not do it yet
never = partial(_gap, "never")  # the format cannot do it by its nature


def expected_failures(marks: Iterable[pytest.Mark], key: EngineKey) -> list[pytest.MarkDecorator]:
    """The strict xfail of each gap that concerns `key`: it fails as soon as the gap is closed."""
    return [
        pytest.mark.xfail(reason=mark.kwargs["reason"], raises=mark.kwargs["raises"], strict=True)
        for mark in marks
        if key in mark.kwargs["engines"]
    ]
