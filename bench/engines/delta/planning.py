"""The planning rules of Delta that its engines apply."""

from bench.engines.tickets import Planning
from strategies.delta.preview import preview_action
from strategies.plan import Action
from strategies.preview import NoPreview, Preview
from strategies.state import TableState


def _nothing_comes_back(action: Action, preview: Preview | NoPreview, state: TableState) -> str | None:
    """No command of Delta drops a deletion vector without rewriting or removing its data file."""
    return None


PLANNING = Planning(preview_action, _nothing_comes_back)
