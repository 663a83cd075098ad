"""Whether an action would bring rows back, by its preview, as an engine asks before it accepts a plan."""

from strategies.iceberg.preview import preview_action
from strategies.iceberg.resurrection import resurrection
from strategies.plan import Action
from strategies.preview import try_preview
from strategies.state import TableState


def resurrected(action: Action, state: TableState) -> str | None:
    return resurrection(action, try_preview(action, state, preview_action), state)
