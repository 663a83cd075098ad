"""The planning rules of Delta that its engines apply."""

from bench.engines.tickets import Planning
from strategies.delta.preview import preview_action
from strategies.plan import Action
from strategies.preview import NoPreview, Preview
from strategies.state import TableState


def _resurrection(action: Action, preview: Preview | NoPreview, state: TableState) -> str | None:
    """None: a deletion vector belongs to one data file, and no command drops it without that file."""
    return None


PLANNING = Planning(preview_action, _resurrection)
