"""The report as files: one self-contained page, the same in Markdown, and its charts and tables."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from bench.results.folders import RunResult
from reports import markdown
from reports.charts.canvas import png, svg
from reports.content import Picture, ReportContent, report_contents, shorten
from reports.csv_files import write_csv_files
from reports.load import run_groups
from reports.phrases import Sentence, Verbatim
from reports.theme import DARK, LIGHT, Theme

_TEMPLATES = Path(__file__).parent / "templates"
_HTML_TABLE_ENDS = 60  # rows kept at either end of a long table
_MARKDOWN_TABLE_ENDS = 5
_SHORT_CHARACTERS = 28
_NUMBER_AND_UNIT = re.compile(
    r"(?<=\d) (?=(?:%|µs|ms|s|min|h|d|B|[KMGTP]iB)(?!\w))|(?<=\bn) (?==)|(?<=\bn =) "
)


def render(runs: Iterable[RunResult], destination: Path) -> Path:
    """Write the report into the folder `destination` and return its page.

    Files of an earlier report are overwritten. Raises ValueError when there is no run.
    """
    groups = run_groups(runs)
    if not groups:
        raise ValueError("there is no run to report on")
    contents = report_contents(groups)
    charts = destination / "charts"
    charts.mkdir(parents=True, exist_ok=True)
    for content in contents:
        for picture in content.pictures:
            _write_chart(content, picture, charts)
    write_csv_files(groups, destination / "tables")
    (destination / "report.md").write_text(_markdown(contents), encoding="utf-8")
    page = destination / "index.html"
    page.write_text(_html(contents), encoding="utf-8")
    return page


def markdown_text(runs: Iterable[RunResult]) -> str:
    """The report in Markdown, with links to charts and tables that `render` writes."""
    return _markdown(report_contents(run_groups(runs)))


def _write_chart(content: ReportContent, picture: Picture, folder: Path) -> None:
    draw = picture.chart.draw
    alone = svg(draw, content.group, LIGHT, picture.stem)
    (folder / f"{picture.stem}.svg").write_text(
        f'<?xml version="1.0" encoding="utf-8"?>\n{alone}', encoding="utf-8"
    )
    (folder / f"{picture.stem}.png").write_bytes(png(draw, content.group, LIGHT))


def _markdown(contents: tuple[ReportContent, ...]) -> str:
    environment = _environment(False, markdown.to_markdown)
    environment.filters |= {"table": markdown.table, "fenced": markdown.fenced, "raw": markdown.SafeMarkdown}
    template = environment.get_template("report.md.j2")
    return template.render(contents=contents, shorten=lambda table: shorten(table, _MARKDOWN_TABLE_ENDS))


def _html(contents: tuple[ReportContent, ...]) -> str:
    environment = _environment(True, _to_html)
    style = Markup((_TEMPLATES / "report.css").read_text(encoding="utf-8"))  # noqa: S704 - our own file
    template = environment.get_template("report.html.j2")
    return template.render(
        contents=contents, style=style, drawn=_drawn, shorten=lambda table: shorten(table, _HTML_TABLE_ENDS)
    )


def _environment(autoescape: bool, finalize: Callable[[object], object]) -> Environment:
    """`finalize` sees every value before it is printed: in Markdown it is what escapes."""
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
        return Markup().join(_code(p) if isinstance(p, Verbatim) else _unbroken(p) for p in value.parts)
    return _code(value) if isinstance(value, Verbatim) else value


def _code(text: Verbatim) -> Markup:
    """A label; a short one is not broken at its hyphens."""
    kind = ' class="short"' if len(text) <= _SHORT_CHARACTERS else ""
    return Markup(f"<code{kind}>{{}}</code>").format(str(text))  # noqa: S704 - `kind` is ours


def _unbroken(text: str) -> str:
    """Numbers kept on one line with their units."""
    return _NUMBER_AND_UNIT.sub("\N{NO-BREAK SPACE}", text)


def _drawn(content: ReportContent, picture: Picture) -> Markup:
    """Both themes of a chart; the style sheet shows the one that matches the page."""
    return Markup().join(_themed(content, picture, theme) for theme in (LIGHT, DARK))


def _themed(content: ReportContent, picture: Picture, theme: Theme) -> Markup:
    image = svg(picture.chart.draw, content.group, theme, f"{picture.stem}/{theme.name}")
    labelled = image.replace("<svg ", f'<svg role="img" aria-label="{escape(picture.chart.title)}" ', 1)
    return Markup('<div class="chart {}">{}</div>').format(theme.name, Markup(labelled))  # noqa: S704 - escaped by matplotlib
