"""The site (`make site`): hooks of MkDocs that add pages generated from the code, and the example report."""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.cli import get_docs_for_click

from bench.cli.commands.list import TOPICS, Entry, Topic, cell_text
from bench.cli.main import command_line
from bench.scenario import file as scenario_file

_COLUMNS = {  # where a page has more room than a terminal
    "scenarios": {
        "name": "scenario", "formats": "format", "stream": "stream", "strategies": "strategies",
        "runs": "runs", "suite_s": "takes", "doc": "what it shows",
    },
    "metrics": {
        "name": "metric", "unit": "unit", "better": "better", "basis": "rests on", "doc": "what it is",
    },
}  # fmt: skip
_EXAMPLES = Path(__file__).parents[1] / "reports" / "examples"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the reference, whose pages are not checked in."""
    for name, text in _reference().items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def on_post_build(config: MkDocsConfig) -> None:
    """Add the rendered example reports, which are pages of their own."""
    shutil.copytree(_EXAMPLES, Path(config.site_dir) / "examples", dirs_exist_ok=True)


def _reference() -> Mapping[str, str]:
    """A page for the command line, and one for each topic of `compactbench list`."""
    topics = {name: "\n".join(_topic(name, topic)) for name, topic in TOPICS.items()}
    return {"commands": _commands(), **topics}


def _commands() -> str:
    command = typer.main.get_command(command_line([]))
    context = typer.Context(command, info_name="compactbench")
    return get_docs_for_click(obj=command, ctx=context, name="compactbench")


def _topic(name: str, topic: Topic) -> Iterator[str]:
    yield f"# {name.capitalize()}\n\n{topic.use[0].upper()}{topic.use[1:]}.\n"
    entries = list(topic.entries())
    if any("details" in entry for entry in entries):
        for entry in entries:
            yield from _section(entry)
    else:
        columns = _COLUMNS.get(name, topic.columns)
        yield from _table(
            columns.values(), ([_cell(key, entry[key]) for key in columns] for entry in entries)
        )
    if topic.note:
        yield f"{topic.note}\n"
    if name == "scenarios":
        example = scenario_file.shipped()["example"].read_text(encoding="utf-8")
        yield f"## Example\n\nEvery key, explained:\n\n```toml\n{example}```"


def _section(entry: Entry) -> Iterator[str]:
    """An entry with its details, and its options or prices."""
    yield f"## `{entry['name']}`\n\n{entry['doc']}\n"
    if entry["details"]:
        yield f"{entry['details']}\n"
    if options := entry.get("options"):
        yield from _table(("option", "value", "default"), map(_option, options))
    if prices := entry.get("prices"):
        yield from _table(("key", "price"), ((f"`{key}`", str(price)) for key, price in prices.items()))


def _option(option: Entry) -> tuple[str, ...]:
    default = "required" if option["default"] is None else f"`{option['default']}`"
    return f"`{option['key']}`", option["type"] or "", default


def _cell(key: str, value: Any) -> str:
    if key == "name":
        return f"`{value}`"
    return ", ".join(value) if isinstance(value, list) else cell_text(key, value)


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    heads = list(titles)
    yield f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(map(_in_table, row))} |"
    yield ""


def _in_table(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
