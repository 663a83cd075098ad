"""Our preview of OPTIMIZE and REORG beside the real ones, on tables of any files and options."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue

import pytest
from delta_oracle import make_case, make_pool, treated
from profiles import of_thorough

from strategies.delta import compaction
from strategies.delta.commands import Command
from strategies.delta.compaction import batches, next_fit
from strategies.delta.preview import preview_action
from strategies.plan import Native

pytestmark = pytest.mark.spark

SEEDS = [*range(222, 330), *range(222)]  # the profiles take the first of them; a seventh shows every rule
THREADS = 4
share_of = partial(of_thorough, at_least=0.15)  # each case takes a second


@pytest.fixture(scope="module")
def answered(spark, tmp_path_factory):
    """Cases with what the real command did."""
    folder = tmp_path_factory.mktemp("optimize")
    # A new session uses Spark's own catalog, where tables can be named by their paths.
    pool = make_pool(spark.newSession(), folder)

    sessions = SimpleQueue()  # options are settings of a session, so each thread has one of its own
    for _ in range(THREADS):
        sessions.put(spark.newSession())

    def answer(seed):
        case, session = make_case(pool, folder / "pool", folder / f"case-{seed}", seed), sessions.get()
        try:
            return case, treated(session, folder / f"case-{seed}", case)
        finally:
            sessions.put(session)

    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(answer, SEEDS[: round(share_of(len(SEEDS)))]))


def previewed(case):
    """What our planner expects: files removed, live rows of those added, bins and batches."""
    preview = preview_action(Native(case.command, {}, case.options), case.state)
    groups = preview.groups
    batch_bytes = case.options.get("batchSize")
    rows = [sum(case.live_rows[file.path] for file in group.files) for group in groups]
    removed = {file.path for group in groups for file in group.files}
    made = batches(groups, None if batch_bytes is None else int(batch_bytes))
    return removed, Counter(rows), len(groups), len(made)


def differing(answered):
    """The cases in which the preview is not what the command did."""
    return [
        (case, expected, answer)
        for case, answer in answered
        if (expected := previewed(case)) != (answer.removed, answer.added_rows, answer.bins, answer.batches)
    ]


def test_the_preview_is_what_the_command_does(answered):
    assert differing(answered) == []


def test_the_cases_cover_every_rule(answered):
    did = [(case, answer) for case, answer in answered if answer.removed]
    assert len(did) > len(answered) / 3
    assert sum(answer.bins > 1 for _, answer in did) > share_of(20)
    assert sum(answer.batches > 1 for _, answer in did) > share_of(10)
    assert sum(not answer.removed and bool(case.state.data_files) for case, answer in answered) > share_of(10)
    for command in (Command.OPTIMIZE, Command.REORG):
        clustered = [a for case, a in did if case.command is command and case.state.clustering_columns]
        plain = [a for case, a in did if case.command is command and not case.state.clustering_columns]
        assert min(len(clustered), len(plain)) > share_of(10)
        assert sum(answer.bins > 1 for answer in clustered) > share_of(3)

    merged = [
        (case, a) for case, a in did if "minFileSize" in case.options and case.command is Command.OPTIMIZE
    ]

    def with_reason(reason):
        return sum(any(reason(case, path) for path in answer.removed) for case, answer in merged)

    def size_of(case, path):
        return next(file.size_bytes for file in case.state.data_files if file.path == path)

    # Files that only their deleted rows made candidates, and files without statistics.
    assert with_reason(lambda case, path: size_of(case, path) >= int(case.options["minFileSize"])) > share_of(
        10
    )
    assert with_reason(
        lambda case, path: any(f.path == path and not f.has_rows_count for f in case.state.data_files)
    ) > share_of(10)


@pytest.mark.parametrize(
    ("name", "mutant"),
    [
        ("next_fit", lambda items, size_of, capacity: next_fit(items, size_of, capacity - 1)),
        ("next_fit", lambda items, size_of, capacity: next_fit(reversed(list(items)), size_of, capacity)),
        ("deleted_ratio", lambda file, vector: None),
    ],
)
def test_a_planner_with_one_rule_changed_is_noticed(answered, monkeypatch, name, mutant):
    monkeypatch.setattr(compaction, name, mutant)
    assert differing(answered)
