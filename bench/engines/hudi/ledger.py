"""The ledger of a Hudi table."""

from collections.abc import Mapping
from dataclasses import replace

from bench.engines.ledger import Ledger
from strategies.hudi.files import BaseFile, HudiState, Instant, LogFile, PendingGroups


class HudiLedger(Ledger[BaseFile, LogFile, HudiState]):
    """A ledger that also has the timeline, and the file groups in pending plans; its owner sets both."""

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
