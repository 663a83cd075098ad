"""The site (`make site`): hooks of MkDocs that add pages generated from the code, and the example report."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.cli import get_docs_for_click

from bench.cli.main import command_line
from bench.results.metrics import METRICS
from bench.scenario import file as scenario_file
from bench.scenario import plugins
from bench.scenario.load import load_scenario

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
    return {
        "commands": _commands(),
        "strategies": "\n".join((
            "# Strategies and triggers\n",
            *_plugins("Planners", "What a rule does: `planner = { type = ... }`.", plugins.PLANNER),
            *_plugins("Triggers", "When a rule acts: `trigger = { type = ... }`.", plugins.TRIGGER),
        )),
        "streams": "\n".join((
            "# Streams\n",
            *_plugins("Workloads", "What is committed: `workload.type`.", plugins.WORKLOAD),
            *_plugins("Arrivals", "How traffic varies over time: `workload.arrival`.", plugins.ARRIVAL),
        )),
        "metrics": "\n".join(_metrics()),
        "scenarios": "\n".join(_scenarios()),
    }  # fmt: skip


def _commands() -> str:
    command = typer.main.get_command(command_line([]))
    context = typer.Context(command, info_name="compactbench")
    return get_docs_for_click(obj=command, ctx=context, name="compactbench")


def _plugins(title: str, use: str, kind: plugins.PluginKind[Any]) -> Iterator[str]:
    yield f"## {title}\n\n{use}\n"
    for plugin in plugins.describe_all(kind):
        yield f"### `{plugin.name}`\n\n{plugin.doc}\n"
        if plugin.details:
            yield f"{plugin.details}\n"
        if plugin.options:
            yield "| option | value | default |\n| --- | --- | --- |"
            for option in plugin.options:
                default = "required" if option.default is None else f"`{option.default}`"
                yield f"| `{option.key}` | {_in_table(option.type or '')} | {_in_table(default)} |"
            yield ""


def _metrics() -> Iterator[str]:
    yield "# Metrics\n\n| metric | unit | better | rests on | what it is |\n| --- | --- | --- | --- | --- |"
    for metric in METRICS:
        cells = (f"`{metric.name}`", metric.unit, metric.better, metric.basis, metric.definition)
        yield f"| {' | '.join(map(_in_table, cells))} |"


def _scenarios() -> Iterator[str]:
    yield "# Shipped scenarios\n\n| scenario | what it shows | strategies |\n| --- | --- | --- |"
    shipped = scenario_file.shipped()
    for name in shipped:
        scenario = load_scenario(name)
        labels = ", ".join(f"`{spec.label}`" for spec in scenario.strategies)
        yield f"| `{name}` | {_in_table(scenario.description)} | {labels} |"
    example = shipped["example"].read_text(encoding="utf-8")
    yield f"\n## Example\n\nEvery key, explained:\n\n```toml\n{example}```"


def _in_table(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
