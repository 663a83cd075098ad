"""What a shell offers for a word being typed: scenarios, formats, planners, strategies and metrics."""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import Any

import typer

from bench.cli.main import COMPLETION_VARIABLE
from bench.results.metrics import METRIC_BY_NAME
from bench.results.records import MANIFEST
from bench.scenario.file import read_toml, shipped
from strategies.registry import PLANNERS

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+=,@%/-]*")  # no shell finds anything else than text in it
_MANIFESTS_MAX = 2_000  # a folder of a sweep may hold more, and nobody waits for them


def quiet(found: Callable[[typer.Context], Iterable[str]]) -> Callable[[typer.Context], list[str]]:
    """Ends with the first error, without its message, which would break up the line that is being typed.

    Shells insert names as they get them, and labels may come from the results of others: what would not be
    one word of plain text is left out.
    """

    @wraps(found)
    def completed(ctx: typer.Context) -> list[str]:
        names: dict[str, None] = {}
        with suppress(Exception):
            for name in found(ctx):
                if _SAFE.fullmatch(name) and (word := _as_one_word(name)):
                    names[word] = None
        return list(names)

    return completed


@quiet
def scenario_names(ctx: typer.Context) -> Iterable[str]:
    """In bash, which ends a word at an equals sign, also the labels that follow one in `--only`."""
    only: Sequence[str] = ctx.params.get("only") or ("",)
    kind = only[-1]
    return _labels_of_scenarios(ctx, kind) if kind in ("strategy", "variant") else shipped()


@quiet
def only_filters(ctx: typer.Context) -> Iterable[str]:
    """The values that `run --only` takes."""
    for kind in ("strategy", "variant"):
        for label in _labels_of_scenarios(ctx, kind):
            yield f"{kind}={label}"


@quiet
def planner_names(ctx: typer.Context) -> Iterable[str]:
    """With the labels of the strategies of `--scenario`."""
    scenario = ctx.params.get("scenario")
    return (*(_labels(_document(scenario), "strategies") if scenario else ()), *PLANNERS)


@quiet
def strategy_labels(ctx: typer.Context) -> Iterable[str]:
    """The labels in the results that the command line names, or in the default folder."""
    folders = map(Path, _given(ctx, "results"))
    manifests = (path for folder in folders for path in _manifests(folder))
    for path in islice(manifests, _MANIFESTS_MAX):
        with suppress(OSError, ValueError, KeyError, TypeError):  # a damaged run hides none of the others
            yield json.loads(path.read_bytes())["strategy"]


@quiet
def format_names(ctx: typer.Context) -> Iterable[str]:
    from bench.engines.registry import FORMATS  # which `calibrate` has loaded, and others need not wait for

    return FORMATS


@quiet
def metric_names(ctx: typer.Context) -> Iterable[str]:
    return METRIC_BY_NAME


def _as_one_word(name: str) -> str | None:
    """A name as the shell that asks must get it; None for blanks in other shells than bash."""
    if " " not in name:
        return name
    if os.environ.get(COMPLETION_VARIABLE) != "complete_bash":
        return None
    words, place = os.environ["COMP_WORDS"].split("\n"), int(os.environ["COMP_CWORD"])
    is_in_quotes = words[place].startswith(("'", '"'))
    return name if is_in_quotes else name.replace(" ", "\\ ")


def _labels_of_scenarios(ctx: typer.Context, kind: str) -> Iterator[str]:
    """The labels of strategies or variants in the scenarios that the command line names already."""
    from bench.scenario.variants import BASE  # which `run` has loaded, and others need not wait for

    for scenario in _given(ctx, "scenarios"):
        if kind == "strategy":
            yield from _labels(_document(scenario), "strategies")
        elif variants := [*_labels(_document(scenario), "variants")]:
            yield from (BASE, *variants)


def _given(ctx: typer.Context, argument: str) -> Sequence[str]:
    """The values of an argument. Typer has not assigned them while the option after them lacks its value."""
    return ctx.args or ctx.params.get(argument) or ()


def _document(scenario: str) -> Mapping[str, Any]:
    """A scenario's file; empty if there is none, as for the equals sign that bash takes for a word."""
    file = shipped().get(scenario, Path(scenario))
    return read_toml(file) if file.is_file() else {}


def _labels(document: Mapping[str, Any], key: str) -> Iterator[str]:
    return (str(table["label"]) for table in document.get(key, ()))


def _manifests(folder: Path) -> Iterator[Path]:
    """Of the runs of a results folder, of a scenario in it, or of a run."""
    return (path for levels in ("*/*/", "*/", "") for path in sorted(folder.glob(f"{levels}{MANIFEST}")))
