"""The report as files: one self-contained page, the same in Markdown, and its charts and tables."""

import base64
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from errno import EEXIST
from pathlib import Path

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from bench.results.folders import RunResult
from reports.charts.output import Draw, png, svg, svg_of_page
from reports.charts.theme import DARK, LIGHT, Theme
from reports.data.csv_files import CSV_NAMES, csv_tables, write_csv_files
from reports.data.group import RunGroup, run_groups
from reports.page import markdown
from reports.page.blocks import Picture
from reports.page.content import Page, page_content, shorten
from reports.page.history import history_page
from reports.page.sections.cautions import cautions
from reports.page.sections.method import facts, section_title
from reports.page.sections.summary import summary
from reports.page.slides import slides
from reports.page.tables import Cell
from reports.phrases import Sentence, Verbatim
from reports.text import unbroken
from reports.verdicts.history import History
from reports.verdicts.page_verdicts import page_verdicts

_TEMPLATES = Path(__file__).parent / "templates"
_PAGE = "index.html"
_HISTORY = "history.csv"
_GENERATOR = b'<meta name="generator" content="compactbench">'
_HTML_TABLE_ENDS = 60  # rows kept at either end of a long table
_MARKDOWN_TABLE_ENDS = 5
_OVERVIEW_TABLE_ENDS = 20
_SHORT_CHARACTERS = 28


def render(
    runs: Iterable[RunResult],
    destination: Path,
    now: datetime | None = None,
    has_slides: bool = False,
) -> Path:
    """Write the report into the folder `destination` and return its page, which is dated `now`.

    With `has_slides` it also has a folder of charts for presentations, `slides`. An earlier report is
    overwritten. Raises ValueError when there is no run, and FileExistsError for a folder that has other
    files.
    """
    groups = run_groups(runs)
    if not groups:
        raise ValueError("there is no run to report on")
    _check_ours(destination)
    page = page_content(groups)
    index = _write(page, csv_tables(groups), destination, now)
    if has_slides:
        (destination / "slides").mkdir(exist_ok=True)
        for stem, draw, group, theme in slides(page, LIGHT.of_page(page.labels)):
            _write_chart(destination / "slides" / stem, draw, group, theme)
    return index


def render_history(histories: Sequence[History], destination: Path, now: datetime | None = None) -> Path:
    """Write the report over time in the same way; each history has at least two points."""
    _check_ours(destination)
    lines = pd.DataFrame([line for history in histories for line in history.lines])
    return _write(history_page(histories), {_HISTORY: lines}, destination, now)


def is_report(folder: Path) -> bool:
    page = folder / _PAGE
    return page.is_file() and _GENERATOR in page.read_bytes()


def _write(page: Page, tables: Mapping[str, pd.DataFrame], destination: Path, now: datetime | None) -> Path:
    """The page is written last, since it links to charts and `tables`."""
    theme, charts = LIGHT.of_page(page.labels), destination / "charts"
    charts.mkdir(parents=True, exist_ok=True)
    index = destination / _PAGE
    if not index.exists():  # it marks the folder as ours, even if the report is interrupted
        index.write_bytes(b"<!doctype html>" + _GENERATOR)
    for content in page.contents:
        for picture in content.pictures:
            _write_chart(charts / picture.stem, picture.chart.draw, picture.group, theme)
    write_csv_files(tables, destination / "tables")
    (destination / "report.md").write_text(_markdown(page, [*tables]), encoding="utf-8")
    index.write_text(_html(page, [*tables], now or datetime.now(UTC)), encoding="utf-8")
    return index


def _check_ours(folder: Path) -> None:
    """Refuse a folder that has files other than a report's."""
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not is_report(folder):
        raise FileExistsError(EEXIST, "it contains files that are not a report", str(folder))


def overview(groups: Sequence[RunGroup]) -> str:
    """The summary of each group in HTML, without a style of its own: a notebook has one."""
    summaries = [
        (section_title(group), facts(group), cautions(group), summary(group, verdicts))
        for group, verdicts in zip(groups, page_verdicts(groups), strict=True)
    ]
    template = _environment(True, _to_html).get_template("overview.html.j2")
    return template.render(summaries=summaries, shorten=lambda table: shorten(table, _OVERVIEW_TABLE_ENDS))


def markdown_text(runs: Iterable[RunResult]) -> str:
    """The report in Markdown, with links to charts and tables that `render` writes."""
    return _markdown(page_content(run_groups(runs)), CSV_NAMES)


def _write_chart(path: Path, draw: Draw, group: RunGroup, theme: Theme) -> None:
    """A chart as SVG and as PNG; `path` is without a suffix."""
    alone = svg(draw, group, theme, path.name)
    path.with_name(f"{path.name}.svg").write_text(
        f'<?xml version="1.0" encoding="utf-8"?>\n{alone}', encoding="utf-8"
    )
    path.with_name(f"{path.name}.png").write_bytes(png(draw, group, theme))


def _markdown(page: Page, tables: Sequence[str]) -> str:
    environment = _environment(False, markdown.to_markdown)
    environment.filters |= {"table": markdown.table, "fenced": markdown.fenced, "raw": markdown.SafeMarkdown}
    template = environment.get_template("report.md.j2")
    return template.render(
        page=page,
        tables=tables,
        shorten=lambda table: shorten(table, _MARKDOWN_TABLE_ENDS),
    )


def _html(page: Page, tables: Sequence[str], now: datetime) -> str:
    environment = _environment(True, _to_html)
    theme, script = LIGHT.of_page(page.labels), _own_file("report.js")
    numbers = {label: number for number, label in enumerate(page.labels)}
    return environment.get_template("report.html.j2").render(
        page=page,
        tables=tables,
        made=f"{now:%Y-%m-%d %H:%M} UTC",
        style=_colours() + _own_file("report.css"),
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        drawn=lambda picture: _drawn(picture, theme),
        number_of=lambda row: _number_of(row, numbers),
        number_named=lambda text: _number_named(text, numbers),
        top=2 if len(page.contents) == 1 else 3,  # levels of headings have no gap
        shorten=lambda table: shorten(table, _HTML_TABLE_ENDS),
    )


def _own_file(name: str) -> Markup:
    return Markup((_TEMPLATES / name).read_text(encoding="utf-8"))  # noqa: S704 - our own file


def _colours() -> Markup:
    """The colours of both themes as variables of the style sheet, which the charts use too."""
    light, dark = (
        " ".join(f"--{name}: {colour};" for name, colour in theme.colours.items()) for theme in (LIGHT, DARK)
    )
    in_the_dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
    return Markup(f":root {{ {light} }}\n{in_the_dark}\n")  # noqa: S704 - our own colours


def _number_of(row: tuple[Cell, ...], numbers: dict[str, int]) -> int | None:
    """The number of the first strategy that a row names, so that both are highlighted together."""
    named = (cell.text for cell in row[:2] if isinstance(cell.text, Verbatim))
    return next((numbers[text] for text in named if text in numbers), None)


def _number_named(text: object, numbers: dict[str, int]) -> int | None:
    """The number of the strategy whose label this column, term or title is."""
    if isinstance(text, Sentence) and len(text.parts) == 1:
        return _number_named(text.parts[0], numbers)
    return numbers.get(text) if isinstance(text, Verbatim) else None


def _environment(autoescape: bool, finalize: Callable[[object], object]) -> Environment:
    """`finalize` gets every value before it is printed; for Markdown it escapes."""
    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=autoescape,  # noqa: S701 - off for Markdown alone
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _to_html(value: object) -> object:
    """What the page prints for a value; plain strings are escaped by the template."""
    if isinstance(value, Sentence):
        return Markup().join(_code(p) if isinstance(p, Verbatim) else unbroken(p) for p in value.parts)
    return _code(value) if isinstance(value, Verbatim) else value


def _code(text: Verbatim) -> Markup:
    kind = ' class="short"' if len(text) <= _SHORT_CHARACTERS else ""
    return Markup(f"<code{kind}>{{}}</code>").format(str(text))  # noqa: S704 - `kind` is ours


def _drawn(picture: Picture, theme: Theme) -> Markup:
    """A chart in the colours of the page, with its finding as text alternative."""
    image = svg_of_page(picture.chart.draw, picture.group, theme, picture.stem)
    text = escape(f"{picture.title}. {picture.finding}".strip())
    labelled = image.replace("<svg ", f'<svg role="img" aria-label="{text}" ', 1)
    return Markup('<div class="chart">{}</div>').format(Markup(labelled))  # noqa: S704 - escaped by matplotlib
