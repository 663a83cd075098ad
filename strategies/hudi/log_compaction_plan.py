"""Which file slices a log compaction takes, according to Hudi's plan generator.

Source: HoodieLogCompactionPlanGenerator and ScheduleCompactionActionExecutor.needLogCompact of Hudi 1.2.0.
"""

from collections.abc import Mapping, Sequence

from strategies.hudi.commands import Command
from strategies.hudi.files import FileSlice, HudiState, Instant
from strategies.hudi.triggers import delta_commits, since_compaction
from strategies.java_values import parse_int
from strategies.options import OptionValue, at_least, check_known, option_texts

BLOCKS_MIN = "hoodie.log.compaction.blocks.threshold"
DEFAULT_BLOCKS_MIN = 5
_BLOCKS_MIN = at_least(BLOCKS_MIN, parse_int, 1)
LOG_COMPACTION_OPTIONS: Mapping[str, str] = {BLOCKS_MIN: str(DEFAULT_BLOCKS_MIN)}


def log_compaction_texts(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Options as the texts that Hudi parses. Raises ValueError on an unknown name or a bad value."""
    check_known(options, LOG_COMPACTION_OPTIONS)
    texts = option_texts(options)
    blocks_min(texts)
    return texts


def blocks_min(texts: Mapping[str, str]) -> int:
    """The log files, or blocks in them, that a slice needs, and the delta commits to wait for.

    Raises ValueError on a text that Hudi would reject.
    """
    return _BLOCKS_MIN.read(texts, DEFAULT_BLOCKS_MIN)


def plan_log_compaction(state: HudiState, files_min: int) -> list[FileSlice]:
    """The free slices whose log files are merged.

    Not modelled: Hudi also takes a slice of fewer log files that together have enough blocks. Here a commit
    writes one block to one file.
    """
    since = since_compaction(state.timeline)
    if since is None or min(since.commits_count, _since_log_compaction(state.timeline)) < files_min:
        return []
    return [free for free in state.free_slices(Command.LOG_COMPACTION) if len(free.logs) >= files_min]


def _since_log_compaction(timeline: Sequence[Instant]) -> int:
    """The delta commits since the last log compaction, excluding it; 0 while it is pending.

    Writes that have not completed count if they were requested after it
    (BaseHoodieTimeline.findInstantsModifiedAfterByCompletionTime of Hudi 1.2.0).
    """
    commits = delta_commits(timeline)
    last = next((commit for commit in reversed(commits) if commit.is_log_compaction), None)
    if last is None:
        return len(commits)
    if last.is_pending:
        return 0
    since_ms = last.requested_at_ms
    completed = [commit for commit in commits if commit is not last and commit.completed_after(since_ms)]
    pending = [commit for commit in commits if commit.is_pending and commit.requested_at_ms > since_ms]
    return len(completed) + len(pending)
