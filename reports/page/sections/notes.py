"""What the short facts in the manifests (`notes`) mean, in sentences: of the method, or of its limits."""

from collections.abc import Mapping

from reports.data.group import RunGroup
from reports.phrases import Sentence, Verbatim, say

Entry = tuple[str, Sentence]  # a heading and what there is to say about it
Note = tuple[str, str]  # a key of `notes` and its value

_WRITE_AMPLIFICATION = say(
    "Bytes of data and delete files that were written, without metadata, are divided by the bytes of the "
    "final content as one compacted table, which are the same for all strategies. On a stream of tiny "
    "commits the commits alone are a multiple of that, since each file has a footer."
)
METHOD: Mapping[Note, Entry] = {
    ("clock", "virtual"): (
        "Clock",
        say(
            "Scenario time is virtual: it stands still while a step runs. Each tick consists of the commit, "
            "queries, the evaluation of the rules and the compactions that follow from it, maintenance, and "
            "the queries of the table as the tick leaves it, one after the other."
        ),
    ),
    ("times", "measured"): ("Timing", say("Each step is timed separately, while no other step runs.")),
    ("concurrency", "compaction beside the stream"): (
        "Concurrency",
        say(
            "Compactions of rules with ", Verbatim("concurrent = true"), " run in a thread beside the "
            "stream. Meanwhile steps do not run one after the other: they compete with the compaction, and "
            "their CPU cannot be told from its own. Commits follow each other without the pauses of a real "
            "stream, so they meet the compaction more often.",
        ),
    ),
    ("times", "modelled"): (
        "Simulation",
        say(
            "Planners decide as they would on a real table. Files and bytes are counted, times follow from a "
            "cost model; neither Java nor storage is involved."
        ),
    ),
    ("cpu", "process"): (
        "Cost",
        say(
            "Process CPU seconds (JVM, Python and children) are the primary cost metric: they are less "
            "sensitive to other load than wall time. They come from the kernel's accounting in ticks of 10 "
            "ms and include garbage collection and JIT compilation. A compaction includes its planning and "
            "commit."
        ),
    ),
    ("cpu", "processes of a cluster"): (
        "Cost",
        say(
            "CPU seconds of processes (the driver's JVM, Python and children, and the executors) are the "
            "primary cost metric: they are less sensitive to other load than wall time. Executors report "
            "theirs once a second, and the end of each step waits for a report, which is no part of its wall "
            "time. A compaction includes its planning and commit.",
        ),
    ),
    ("cpu", "driver and tasks"): (
        "Cost",
        say(
            "CPU seconds are those of the driver's processes (JVM, Python and children) and of the tasks in "
            "executors. What else executors spend, such as compilation, garbage collection and shuffles, is "
            "missing: it can be half of their CPU. So these figures do not compare with those of a local "
            "master.",
        ),
    ),
    ("commit_time", "without preparation"): (
        "Commits",
        say("A batch is read, split and cached before the timer of its commit starts."),
    ),
    ("warm_up", "table per planner"): (
        "Warm-up",
        say(
            "Each planner first acts several times on a throw-away table of its own, on which all queries "
            "run too."
        ),
    ),
    ("class_data", "archive"): (
        "Class loading",
        say("Java maps its classes from an archive that was made before the first run."),
    ),
    ("class_data", "jars"): ("Class loading", say("Java reads and verifies its classes from the jars.")),
    ("pruning", "one key condition"): (
        "File pruning",
        say(
            "A query with exactly one condition ", Verbatim("order_id = n"), " or ",
            Verbatim("order_id BETWEEN n AND m"), " opens the files whose keys may match; any other query "
            "opens all files.",
        ),
    ),
    ("ingested_bytes", "change log"): ("Write amplification", _WRITE_AMPLIFICATION),
    ("ingested_bytes", "expected"): ("Write amplification", _WRITE_AMPLIFICATION),
    ("content", "row count"): (
        "Content",
        say("A simulated table has no rows: only their expected number is checked at the end."),
    ),
}  # fmt: skip
LIMITS: Mapping[Note, Sentence] = {  # the most important first
    ("machines", "a cluster's"): say(
        "Tasks ran on the machines of a cluster. How busy these and the network were is not known here, and "
        "the noise that compactbench measures is that of the driver's machine."
    ),
    ("storage", "of the catalog"): say(
        "The tables were where the scenario's catalog keeps them. The speed, the caches and the other users "
        "of that storage and of the catalog are part of the figures, and so is how durable writes there are."
    ),
    ("clock", "virtual"): say(
        "The virtual clock stands still during compaction. This flatters long compactions and hides "
        "conflicts between writer and compactor as well as their competition with queries. The duty cycle "
        "above shows how much is hidden."
    ),
    ("concurrency", "not modelled"): say(
        "Contention is not modelled: a rule with ",
        Verbatim("concurrent = true"),
        " is simulated as one with the same delay alone, so that its figures are those of that one.",
    ),
    ("page_cache", "warm"): say(
        "Reads are served from a warm page cache, so they cost less than reads from storage."
    ),
    ("table_metadata", "read by each query"): say(
        "Each query reads the table's metadata anew, as the first one of a session does. Of a small table "
        "that is most of the latency, and formats differ in it: the control query, of a few files that never "
        "change, shows how much it is. A session that keeps the metadata between queries is faster."
    ),
    ("fsync", "off"): say("Files are not synced to disk, so writes cost less than durable ones."),
    ("keys", "ascending"): say(
        "Keys are assigned in ascending order, so file statistics, where queries use them, prune most files "
        "of a lookup by key. With random keys such a query would open more files."
    ),
}


def noted(group: RunGroup) -> tuple[Note, ...]:
    """The notes of all runs, each once."""
    return tuple(dict.fromkeys(note for run in group.runs for note in run.manifest.notes.items()))


def unexplained(group: RunGroup) -> tuple[Entry, ...]:
    """Notes this version has no sentence for, as they are."""
    return tuple(
        (key.replace("_", " ").capitalize(), say(value))
        for key, value in noted(group)
        if (key, value) not in METHOD and (key, value) not in LIMITS
    )
