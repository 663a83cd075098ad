"""The site (`make site`): hooks of MkDocs that add the README, generated pages and the example report."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.cli import get_docs_for_click

from bench.cli.commands.list_what import TOPICS, Entry, Topic, cell_text
from bench.cli.main import whole_command_line
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
_ROOT = Path(__file__).parents[1]
_REPORTS = _ROOT / "reports"
_PAGES_OF_ROOT = {
    "README.md": "start.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
}
_TO_README = "](../README.md)"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages beside docs/, the reference, whose pages are not checked in, and the rendered reports."""
    for name, page in _PAGES_OF_ROOT.items():
        text = _linked_from_docs((_ROOT / name).read_text(encoding="utf-8"))
        files.append(File.generated(config, page, content=text))
    for name, text in _reference().items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    for path in sorted((_REPORTS / "examples").rglob("*.*")):
        if path.suffix != ".md":  # its text is that of the page
            place = path.relative_to(_REPORTS).as_posix()
            files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Lead to the README where it is on the site."""
    return markdown.replace(_TO_README, f"]({_PAGES_OF_ROOT['README.md']})")


def _linked_from_docs(text: str) -> str:
    """A page of the root folder with the links that it has as a page of docs/."""
    for name, page in _PAGES_OF_ROOT.items():
        text = text.replace(f"]({name})", f"]({page})")
    text = text.replace("](docs/", "](").replace("](reports/examples/", "](examples/")
    return text.replace("/report.md)", "/index.html)")


def _reference() -> Mapping[str, str]:
    """A page for the command line, and one for each topic of `compactbench list`."""
    topics = {name: "\n".join(_topic(name, topic)) for name, topic in TOPICS.items()}
    return {"commands": _commands(), **topics}


def _commands() -> str:
    command = typer.main.get_command(whole_command_line())
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
