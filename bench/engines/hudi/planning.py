"""The planning rules of Hudi that its engines apply."""

from bench.engines.tickets import Planning
from strategies.hudi.commands import METADATA_COMMANDS
from strategies.hudi.preview import preview_action
from strategies.plan import Action, Native
from strategies.preview import NoPreview, Preview
from strategies.state import TableState


def _nothing_comes_back(action: Action, preview: Preview | NoPreview, state: TableState) -> str | None:
    """No table service of Hudi drops a log file without merging it."""
    return None


def _is_scheduled(action: Action) -> bool:
    """Whether Hudi writes a plan for it when it is scheduled, which names its files."""
    return isinstance(action, Native) and action.command not in METADATA_COMMANDS


PLANNING = Planning(preview_action, _nothing_comes_back, _is_scheduled)
