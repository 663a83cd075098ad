"""What is certain because it was counted: compactions, bytes rewritten, files, space on storage."""

from bench.results.rows import Row
from bench.text import human_bytes, human_count, human_percent, human_ratio
from reports.data.group import RunGroup
from reports.phrases import Sentence, Verbatim, listed, say, sentence, separated
from reports.verdicts.judge import compare_strategies
from reports.verdicts.pareto_front import compacting_front

_SPACE_ABOVE = 1.2  # times the least: a smaller difference in storage decides nothing


def certain(group: RunGroup) -> tuple[Sentence, ...]:
    """The most important first; rewritten bytes only for the strategies that the answer names."""
    rewritten = (_rewritten(part) for part in group.parts)
    deletes = (  # a sentence per format: they differ in what counts as one delete file
        _at_end(part, "delete_files_end", part.delete_words[0].capitalize())
        for part in group.parts
        if any(row.values["delete_files_end"] for row in part.rows)
    )
    lines = (*rewritten, _at_end(group, "files_end", "Data files"), *deletes, _space(group))
    return tuple(line for line in lines if line is not None)


def _rewritten(group: RunGroup) -> Sentence | None:
    """Compactions and bytes of the strategies on the front; of all strategies if there is no front."""
    named = [point.strategy for point in compacting_front(group)]
    rows = [group.row(label) for label in named] or group.attainable
    known = [(r.strategy, r.values["compactions"], r.values["compaction_added_bytes"]) for r in rows]
    parts = [
        say(Verbatim(label), f" compacts {_times(number)} and writes {human_bytes(size_bytes)}")
        for label, number, size_bytes in known
        if number and size_bytes
    ]
    if not parts:
        return None
    sizes = sorted((size_bytes, label) for label, number, size_bytes in known if number and size_bytes)
    (least, fewest), (most, largest) = sizes[0], sizes[-1]
    bytes_metric = "compaction_added_bytes"
    if largest != fewest and compare_strategies(group, bytes_metric, largest, fewest).verdict != "equal":
        parts.append(
            sentence(
                "{largest} rewrites {ratio} the bytes of {fewest}",
                largest=Verbatim(largest), ratio=human_ratio(most / least), fewest=Verbatim(fewest),
            )
        )  # fmt: skip
    return separated("; ", parts) + say(", as modelled." if group.is_simulated else ".")


def _times(number: float) -> str:
    return "once" if number == 1 else "twice" if number == 2 else f"{human_count(number)} times"


def _at_end(group: RunGroup, metric: str, noun: str) -> Sentence | None:
    """A count at the end with the strategies that share it, the smallest first.

    A strategy whose runs differ in it is left out, as its count is not certain.
    """
    labels_by_count: dict[float, list[str]] = {}
    for row in group.attainable:
        counts = {count for count in row.run_values[metric] if count is not None}
        if len(counts) == 1:
            labels_by_count.setdefault(counts.pop(), []).append(row.strategy)
    if not labels_by_count:
        return None
    counts_with_labels = [
        say(f"{human_count(count)} with ") + listed(labels)
        for count, labels in sorted(labels_by_count.items())
    ]
    return sentence("{noun} at the end: {counts}.", noun=noun, counts=separated("; ", counts_with_labels))


def _space(group: RunGroup) -> Sentence | None:
    """The largest table on storage against the smallest; the remedy if no rule drops old versions."""
    sizes = {row.strategy: size for row in group.attainable if (size := row.values["storage_bytes_end"])}
    if len(sizes) < 2:
        return None
    most, least = max(sizes, key=lambda label: sizes[label]), min(sizes, key=lambda label: sizes[label])
    if sizes[most] < _SPACE_ABOVE * sizes[least]:
        return None
    advice = sentence(
        ". No rule drops old versions of the table, so each compaction leaves what it replaced, and its own "
        "metadata. To see what dropping them frees, add a rule for it to the scenario's {section}.",
        section=Verbatim("[[maintenance]]"),
    )
    return sentence(
        "Space: {most} ends with {size} on storage{metadata}, {ratio} that of {least}{advice}",
        most=Verbatim(most), size=human_bytes(sizes[most]),
        metadata=_metadata_share(group.row(most), sizes[most]),
        ratio=human_ratio(sizes[most] / sizes[least]), least=Verbatim(least),
        advice=_what_dropping_did(group, most) if group.manifest_of(most).drops_versions else advice,
    )  # fmt: skip


def _metadata_share(row: Row, size_bytes: float) -> str:
    metadata_bytes = row.values["metadata_storage_bytes_end"]
    return "" if metadata_bytes is None else f" ({human_percent(metadata_bytes / size_bytes)} of it metadata)"


def _what_dropping_did(group: RunGroup, label: str) -> str:
    freed_bytes = group.row(label).values["maintenance_freed_bytes"]
    if not group.manifest.scenario_text.get("maintenance") or freed_bytes is None:
        return ", although a rule drops old versions."
    if freed_bytes > 0:
        return f", although maintenance freed {human_bytes(freed_bytes)}."
    return (
        ". Maintenance drops old versions but freed nothing: it may keep them longer than the stream lasts."
    )
