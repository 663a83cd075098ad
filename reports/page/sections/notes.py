"""Sentences for the `notes` of manifests: about the method, or about its limits."""

from collections.abc import Mapping

from bench.results.records import FEWER_CORES, THREADS_CPU
from reports.data.group import RunGroup
from reports.phrases import Sentence, Verbatim, say

Entry = tuple[str, Sentence]  # a heading and its text
Note = tuple[str, str]  # a key of `notes` and its value

_WRITE_AMPLIFICATION = say(
    "Bytes written in data and delete files, without metadata, divided by the bytes of the final content as "
    "one compacted table, which are the same for all strategies. On a stream of tiny commits, the commits "
    "alone write several times the final content, because each file has a footer."
)
METHOD: Mapping[Note, Entry] = {
    ("clock", "virtual"): (
        "Clock",
        say(
            "Scenario time is virtual: it stands still while a step runs. In each tick these steps run one "
            "after the other: the commit, queries, the evaluation of the rules, their compactions, "
            "maintenance, and queries of the settled table."
        ),
    ),
    ("clock", "real"): (
        "Clock",
        say(
            "A commit and a compaction take scenario time; a commit that is due while the one before it runs "
            "comes late. A compaction rewrites the files that were there when it began, and commits at its "
            "end, unless a commit in between has made that impossible by the rules of the format. Meanwhile "
            "the same compactor begins no other. A commit that loses to a compaction is made again."
        ),
    ),
    ("cores", "shared"): (
        "Cores",
        say(
            "Steps that run at the same time share the scenario's ",
            Verbatim("resources.shared_cores"),
            " evenly, and none uses more than the cores of its role. So commits and compactions slow each "
            "other down, and compactions slow queries down. Queries are samples: they slow nothing down, and "
            "none is taken while a commit runs.",
        ),
    ),
    ("cores", FEWER_CORES): (
        "Cores",
        say(
            "The roles had more cores than the machine, so they waited for each other. Threads that wait for "
            "a core are counted by the kernel, and run_delay_per_cpu is how long they did for each CPU "
            "second."
        ),
    ),
    ("core_speed", "given"): (
        "Speed",
        say(
            "All modelled seconds, of CPU too, are divided by the scenario's ",
            Verbatim("resources.core_speed"),
            ": how fast its cores are, relative to those that the cost model was fitted on.",
        ),
    ),
    ("times", "measured"): ("Timing", say("Each step is timed separately, while no other step runs.")),
    ("times", "measured at the same time"): (
        "Timing",
        say("Each step is timed in the process or thread of its role, while the other roles work."),
    ),
    ("times", "modelled"): (
        "Simulation",
        say(
            "Planners decide as they would on a real table. Files and bytes are counted and times come from "
            "a cost model, without Java or storage."
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
            "their CPU once a second. Each step ends by waiting for a report, which does not count as its "
            "wall time. A compaction includes its planning and commit.",
        ),
    ),
    ("cpu", "driver and tasks"): (
        "Cost",
        say(
            "CPU seconds include the driver's processes (JVM, Python and children) and the tasks in "
            "executors. Other work of executors, such as compilation, garbage collection and shuffles, is "
            "missing and can be half of their CPU. So these figures cannot be compared with runs on a local "
            "master.",
        ),
    ),
    ("cpu", THREADS_CPU): (
        "Cost",
        say(
            "The roles share one Java process, so the CPU seconds of a step are those of the role's Spark "
            "tasks, of its own thread and of the thread in Java that serves it. What Java does for all "
            "roles, such as compilation, garbage collection and scheduling, counts for none of them. So "
            "these figures are lower than those of formats whose roles are processes."
        ),
    ),
    ("commit_time", "without preparation"): (
        "Commits",
        say("A batch is read, split and cached before the timer of its commit starts."),
    ),
    ("warm_up", "table per planner"): (
        "Warm-up",
        say(
            "Before the run, each planner acts several times on a throw-away table of its own, on which all "
            "queries run too."
        ),
    ),
    ("class_data", "archive"): (
        "Class loading",
        say("The JVM loaded its classes from a class data archive (AppCDS), so it started faster."),
    ),
    ("pruning", "one key condition"): (
        "File pruning",
        say(
            "A query with exactly one condition ", Verbatim("order_id = n"), " or ",
            Verbatim("order_id BETWEEN n AND m"), " opens only the files whose keys may match; any other "
            "query opens all files.",
        ),
    ),
    ("pruning", "by partition"): (
        "File pruning",
        say(
            "A query opens the files of the partitions that its conditions on partition columns admit. "
            "Statistics of other columns rule out no file."
        ),
    ),
    ("ingested_bytes", "change log"): ("Write amplification", _WRITE_AMPLIFICATION),
    ("ingested_bytes", "expected"): ("Write amplification", _WRITE_AMPLIFICATION),
    ("table_metadata", "read by new sessions"): (
        "Sessions",
        say(
            "Each query runs twice: by a new session, which has read nothing of the table's metadata, and "
            "then as by a long-lived session, which has queried this version of the table before. "
            "Latencies are of long-lived sessions unless a figure names new ones. A session keeps Delta's "
            "snapshot and Hudi's file listing; Iceberg's metadata file is read by each query."
        ),
    ),
    ("queries", "at a changing rate"): (
        "Readers",
        say(
            "Readers ask at a changing rate, by ",
            Verbatim("queries.arrival"),
            " of the scenario. A mean of queries counts each tick by how many arrive until the next one. "
            "Probes run at the same ticks as at a constant rate, and percentiles and maxima count each of "
            "their ticks alike. A number of queries an hour is the mean over the stream.",
        ),
    ),
    ("page_cache", "cold"): (
        "Page cache",
        say(
            "Before each query the kernel dropped the contents of all files of the run, so that the table "
            "was read from the disk, and so was the table of the control query."
        ),
    ),
    ("jvm", "new"): (
        "Compiler",
        say(
            "The JVM is as new as that of a real run, so the CPU includes what Java's compiler takes in its "
            "first hour. A job that has run for days takes less: ",
            Verbatim('jvm = "warm"'),
            " in the scenario.",
        ),
    ),
    ("jvm", "warm"): (
        "Compiler",
        say("The JVM is as warm as that of a job that has run for days: nearly all of its code is compiled."),
    ),
    ("content", "row count"): (
        "Content",
        say("A simulated table has no rows, so the final check compares only the number of rows."),
    ),
}  # fmt: skip
LIMITS: Mapping[Note, Sentence] = {  # the most important first
    ("machines", "a cluster's"): say(
        "Tasks ran on the machines of a cluster. The load of these machines and of the network is not known; "
        "compactbench measures noise only on the driver's machine."
    ),
    ("storage", "of the catalog"): say(
        "The tables were stored by the scenario's catalog. The figures include the speed, caches, other "
        "users and durable writes of the catalog and its storage."
    ),
    ("storage", "not modelled"): say(
        "The storage of the scenario's catalog is not modelled: times are those of files where the cost "
        "model was measured, for the shipped coefficients a local disk. An object store answers more slowly."
    ),
    ("clock", "virtual"): say(
        "The virtual clock stands still during compaction. This favours long compactions, and hides "
        "conflicts between writer and compactor and their competition with queries. The duty cycle above "
        "shows how much is hidden."
    ),
    ("cores", "of each role"): say("Each role has cores of its own, so roles do not slow each other down."),
    ("page_cache", "warm"): say(
        "Reads are served from a warm page cache, so they cost less than reads from storage."
    ),
    ("page_cache", "not modelled"): say(
        "The page cache is not modelled: times are those of a warm one, although the scenario drops it."
    ),
    ("table_metadata", "read by each query"): say(
        "Each query reads the table's metadata again, like the first query of a session. On a small table "
        "this is most of the latency, and formats differ in it: the control query, on a few files that never "
        "change, shows how much it is. A session that caches the metadata between queries is faster."
    ),
    ("fsync", "off"): say("Files are not synced to disk, so writes cost less than durable ones."),
    ("keys", "ascending"): say(
        "Keys are assigned in ascending order, so file statistics, if a query uses them, prune most files of "
        "a lookup by key. With random keys such a query would open more files."
    ),
}


def noted(group: RunGroup) -> tuple[Note, ...]:
    return tuple(dict.fromkeys(note for run in group.runs for note in run.manifest.notes.items()))


def unexplained(group: RunGroup) -> tuple[Entry, ...]:
    return tuple(
        (key.replace("_", " ").capitalize(), say(value))
        for key, value in noted(group)
        if (key, value) not in METHOD and (key, value) not in LIMITS
    )
