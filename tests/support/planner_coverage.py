"""What the cases of the comparison with Iceberg's planner show, so that none of it goes missing unseen."""

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import chain

from delete_tables import applies
from planner_cases import Case

from strategies.iceberg.files import DeleteKind, IcebergState, KeyBounds
from strategies.iceberg.preview import preview_action
from strategies.preview import Preview

POSITION = DeleteKind.POSITION


@dataclass
class Coverage:
    """How many cases had what; distinct states by their files, deletes and properties."""

    counts: Counter[str] = field(default_factory=Counter)
    states: set[int] = field(default_factory=set)

    def add(self, case: Case, plan: Preview) -> None:
        self.states.add(hash((case.state.data_files, case.state.delete_files, case.state.spec_id)))
        self.counts["cases"] += 1
        self.counts.update(name for name, seen in traits(case, plan).items() if seen)


def traits(case: Case, plan: Preview) -> dict[str, bool]:
    """What a case shows, told from its input and from its plan."""
    options, state = case.figures, case.state
    planned = {f.path for g in plan.groups for f in g.files}
    fits = {f.path for f in state.data_files if options.min_bytes <= f.size_bytes <= options.max_bytes}
    candidates = {f.path for f in state.data_files} - fits
    chosen = not options.rewrite_all
    return {
        "planned": bool(plan.groups),
        "group filtered": chosen and options.max_files is None and not candidates <= planned,
        "deletes triggered": chosen and bool(planned & fits),
        "several groups": len(plan.groups) > 1,
        "several groups of a partition": max(Counter(g.partition for g in plan.groups).values(), default=0)
        > 1,
        "truncated": options.max_files is not None and plan.files_removed_count == options.max_files,
        "null partition": any("null" in f.partition for g in plan.groups for f in g.files),
        "old spec": any(f.spec_id != state.spec_id for g in plan.groups for f in g.files),
        "ordered": options.job_order != "none" and len(plan.groups) > 1,
        "several tasks": any(len(g.tasks) > 1 for g in plan.groups) and not case.is_shuffled,
        "many tasks": any(len(g.tasks) > 10 for g in plan.groups) and not case.is_shuffled,
        "deletes weigh": any(g.delete_bytes for g in plan.groups),
        "shuffled": case.is_shuffled and bool(plan.groups),
        **_delete_traits(case, plan),
    }


def without_keys(state: IcebergState) -> IcebergState:
    """The state as if no file had bounds."""
    return replace(
        state,
        data_files=tuple(replace(file, key_bounds=None) for file in state.data_files),
        delete_files=tuple(replace(delete, key_bounds=None) for delete in state.delete_files),
    )


def _meet(left: KeyBounds | None, right: KeyBounds | None) -> bool:
    return left is None or left.meets(right)


def _delete_traits(case: Case, plan: Preview) -> dict[str, bool]:
    """What deletes of the case do to a data file, told from the rule for one pair."""
    state = case.state
    found = [
        [delete for delete in state.delete_files if applies(delete, file, state, _meet)]
        for file in state.data_files
    ]
    applied = list(chain.from_iterable(found))
    pairs = [(f, d) for f, deletes in zip(state.data_files, found, strict=True) for d in deletes]
    of_equality = [(f.key_bounds, d.key_bounds) for f, d in pairs if d.kind is DeleteKind.EQUALITY]
    known = [(f, d) for f, d in of_equality if f is not None and d is not None]
    loose = without_keys(state) if case.metrics else state
    pruned = loose is not state and any(
        applies(d, replace(file, key_bounds=None), state, _meet) and not applies(d, file, state, _meet)
        for file in state.data_files for d in state.delete_files
    )  # fmt: skip
    return {
        "keys miss": pruned,
        "keys miss, and the plan differs": pruned and preview_action(case.action, loose) != plan,
        "keys meet": any(f.lower is not None and d.lower is not None for f, d in known),
        "one side without bounds": any((f.lower is None) != (d.lower is None) for f, d in known),
        "no metrics": any(f is None for f, _ in of_equality),
        "nulls meet": any(f.nulls and d.nulls and not replace(f, nulls=False).meets(d) for f, d in known),
        "nulls alone": any(not f.key_bounds.values for f in state.data_files if f.key_bounds),
        "required key": bool(known) and case.key.is_required,
        "text key": bool(known) and case.key.type_name == "string",
        "global equality": any(d.kind is DeleteKind.EQUALITY and not d.partition for d in applied),
        "equality of a partition": any(d.kind is DeleteKind.EQUALITY and d.partition for d in applied),
        "positions of a partition": any(d.kind is POSITION and not d.referenced_data_file for d in applied),
        "positions of a file": any(d.kind is POSITION and bool(d.referenced_data_file) for d in applied),
        "deletion vectors": any(d.kind is DeleteKind.DELETION_VECTOR for d in applied),
        "vector hides positions": any(
            d.kind is POSITION and d.referenced_data_file == f.path and d not in deletes
            and any(v.kind is DeleteKind.DELETION_VECTOR for v in deletes)
            for f, deletes in zip(state.data_files, found, strict=True) for d in state.delete_files
        ),
        "mixed": any(len({d.kind for d in deletes}) > 1 for deletes in found),
    }  # fmt: skip
