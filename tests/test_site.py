"""The site is built without a warning: no page and no anchor that is linked to is missing."""

from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

from bench.cli.commands.list_what import TOPICS

ROOT = Path(__file__).parents[1]


@pytest.mark.processes
@pytest.mark.filterwarnings("default")  # of MkDocs and its theme
def test_the_site_is_built(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path), strict=True)
    build(config)
    reference = (f"reference/{name}/index.html" for name in ("commands", *TOPICS))
    for page in ("index.html", "findings/cadence/index.html", *reference):
        assert (tmp_path / page).is_file()
    assert '<a href="start/">README</a>' in (tmp_path / "index.html").read_text()
    start = (tmp_path / "start" / "index.html").read_text()
    for place, file in (("", "index.html"), ("charts/pareto.png", "charts/pareto.png")):
        assert f'"../examples/append-only/{place}"' in start
        assert (tmp_path / "examples" / "append-only" / file).is_file()
    assert "fonts.g" not in (tmp_path / "index.html").read_text()


def test_every_page_is_in_the_navigation():
    """Decisions are found from their index."""
    named = (ROOT / "mkdocs.yml").read_text()
    written = (path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))
    pages = (*written, *(f"reference/{name}.md" for name in TOPICS))
    assert [page for page in pages if not page.startswith("decisions/") and page not in named] == []
