"""The ledger of a Hudi table, and the rules for its plans."""

from collections.abc import Mapping
from dataclasses import replace

from bench.engines.ledger import Ledger
from bench.engines.tickets import Planning
from strategies.hudi.commands import METADATA_COMMANDS
from strategies.hudi.files import BaseFile, HudiState, Instant, LogFile, PendingGroups
from strategies.hudi.preview import preview_action
from strategies.plan import Action, Native

NOT_SCHEDULED = "a table service has to be scheduled before it is executed"


def _is_scheduled(action: Action) -> bool:
    """Whether scheduling the action writes a plan that names its files."""
    return isinstance(action, Native) and action.command not in METADATA_COMMANDS


# No table service of Hudi drops a log file without merging it.
PLANNING = Planning(preview_action, is_staged=_is_scheduled)


class HudiLedger(Ledger[BaseFile, LogFile, HudiState]):
    """A ledger with the timeline and the file groups in pending plans; its owner sets both."""

    def __init__(
        self,
        target_file_size_bytes: int,
        properties: Mapping[str, str],
        stream_epoch_ms: int | None = None,
    ) -> None:
        super().__init__(HudiState, target_file_size_bytes, properties, stream_epoch_ms=stream_epoch_ms)
        self.timeline: tuple[Instant, ...] = ()
        self.pending_groups: PendingGroups = {}

    def state(self, at_ms: int) -> HudiState:
        return replace(super().state(at_ms), timeline=self.timeline, pending_groups=self.pending_groups)
