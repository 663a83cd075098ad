"""What Delta's real and its simulated engine must do alike, and no other format does."""

from engine_factories import of_format
from engine_streams import commit_all, execute
from evaluate import evaluate

from strategies.delta.planners import Optimize, ZOrder
from strategies.plan import Compact, Native
from strategies.strategy import Rule, Strategy
from strategies.triggers import Every, FileCount
from workloads.partitioning import Partitioning

pytestmark = of_format("delta")


def test_layers_merge_fragments_often_and_the_rest_rarely(make_engine, make_stream):
    partitioning = Partitioning("bucket", buckets=2)
    engine, stream = make_engine(partitioning=partitioning), make_stream(partitioning)
    commit_all(engine, stream[:2])  # 3 files for each bucket, and 4 more
    fragment_bytes = 1 + max(file.size_bytes for file in engine.state(0).data_files)
    fragments = Optimize(min_small_files=8, options={"minFileSize": fragment_bytes})
    layers = Strategy(
        "layers", (Rule(Every(300_000), Optimize()), Rule(FileCount(16, fragment_bytes), fragments))
    )
    memories, done = layers.fresh_memories(), []
    for batch in stream[2:]:
        at_ms = batch.spec.at_ms
        engine.commit(batch, at_ms)
        decisions, memories = evaluate(layers, engine.state(at_ms), memories)
        plan = decisions[-1].plan
        if plan is not None:
            assert execute(engine, plan, at_ms).status == "ok"
        done.append((plan and type(plan.actions[0]), len(engine.state(at_ms).data_files)))
    # Merged fragments are none any more, so that the next eight become a file beside them.
    assert done == [(Compact, 2), (None, 10), (Compact, 4), (Native, 2), (None, 10)]


def test_sorting_commits_in_batches(make_engine, make_stream):
    partitioning = Partitioning("bucket", buckets=3)
    engine = make_engine(partitioning=partitioning)
    commit_all(engine, make_stream(partitioning)[:2])
    sort = ZOrder(("user_id",), options={"batchSize": 1})  # no two bins fit into a batch
    outcome = execute(engine, sort.decide(engine.state(60_000)), 60_000)
    assert [version.change.files_added_count for version in outcome.versions] == [1, 1, 1]
