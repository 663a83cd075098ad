"""What the actions of a plan read, by their previews, and whether that is nothing."""

from collections.abc import Iterable

from bench.results.values import NO_REWRITE_WORK, RewriteWork
from strategies.plan import Plan, Rewrite
from strategies.preview import NoPreview, Preview
from strategies.series import rows_of


def rewrite_work(previews: Iterable[Preview | NoPreview]) -> RewriteWork:
    """The work of actions with these previews; unknown if one has none."""
    return sum((_work(preview) for preview in previews), NO_REWRITE_WORK)


def finds_nothing(plan: Plan, work: RewriteWork) -> bool:
    """Whether a plan with this work changes no file.

    An explicit rewrite is there to change what it names, if only by dropping delete files.
    """
    return work == NO_REWRITE_WORK and not any(isinstance(action, Rewrite) for action in plan.actions)


def _work(preview: Preview | NoPreview) -> RewriteWork:
    if isinstance(preview, NoPreview):
        return RewriteWork()
    groups, converted = preview.groups, preview.converted
    return RewriteWork(
        groups_count=len(groups),
        tasks_count=preview.files_added_count,
        read_files_count=preview.files_removed_count,
        read_rows=sum(rows_of(group.files) for group in groups),
        read_data_bytes=preview.read_data_bytes,
        converted_files_count=converted.files_count,
        converted_rows=converted.rows,
        applied_delete_files_count=sum(g.delete_files_count for g in groups) + converted.delete_files_count,
        applied_delete_rows=sum(group.delete_rows for group in groups) + converted.delete_rows,
        applied_delete_bytes=sum(group.delete_bytes for group in groups) + converted.delete_bytes,
    )
