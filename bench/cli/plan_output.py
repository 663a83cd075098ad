"""The output of `plan` for people: the table, and what a plan would change or why it changes nothing."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from bench.cli.output import print_facts, print_heading, print_paragraph, print_table
from bench.cli.tables import Column
from bench.engines.format import Format
from bench.text import MISSING, counted, human_bytes, human_count, human_duration

PARTITIONS_SHOWN = 20
FILES_SHOWN = 50
BAR_LENGTH = 30
_CHANGES = ("groups", "delete_groups", "files_converted", "delete_files_dropped")


def nothing_because(answer: Mapping[str, Any], table: Mapping[str, Any]) -> str | None:
    """Why no file would change; None if some would."""
    effect, shortfall = answer["effect"], answer["shortfall"]
    if effect and any(effect[key] for key in _CHANGES):
        return None
    if not table["data_files"]:
        return "the table contains no data files"
    if effect is None:
        return f"{' and '.join(answer['planners'])} would do nothing"
    if shortfall is None:
        return "the plan rewrites no file"
    files, candidates = shortfall["files_count"], shortfall["candidates_count"]
    if not files:
        return "no data file can contain rows that the plan selects"
    together = f"{shortfall['candidates_together_count']:,} of them in one {shortfall['together_in']}"
    at_most = f", at most {together}" if candidates else ""
    are = shortfall["candidates_are"]
    return f"{candidates:,} of {files:,} data files are {are}{at_most}; {shortfall['needs']}"


def print_table_facts(facts: Mapping[str, Any], delete_files: str) -> None:
    spec, format_version = facts["partition_spec"], facts["format_version"]
    deletes = [
        f"{kind['kind'].replace('_', ' ')}: {_amount(kind['files'], kind['bytes'], kind['rows'])}"
        for kind in facts["delete_files"]
        if kind["files"]
    ]
    print_heading(f"table {facts['name']}")
    print_facts(
        {
            "location": facts["location"],
            "metadata": facts["metadata"],
            **({} if format_version is None else {"format version": str(format_version)}),
            "table version": _version(facts["version"], facts["committed_at"]),
            "data files": _amount(facts["data_files"], facts["data_bytes"], facts["rows"]),
            delete_files: "; ".join(deletes) or "none",
            "partitions": f"{facts['partitions']:,} by {spec}" if spec else "not partitioned",
            "target file size": human_bytes(facts["target_file_size_bytes"]),
        }
    )
    if facts["data_files"]:
        print_paragraph("")
        print_table(
            ("file size", "files", "bytes", Column("", drop=1)), list(_size_lines(facts["file_sizes"]))
        )


def _version(version: str | None, committed_at: str | None) -> str:
    if version is None:
        return "none: nothing has been written to the table yet"
    if committed_at is None:
        return version
    committed = datetime.fromisoformat(committed_at)
    zone = "in the time zone of its writer" if committed.tzinfo is None else "UTC"
    return f"{version}, committed {committed:%Y-%m-%d %H:%M:%S} {zone}"


def _amount(files: int, size_bytes: int, rows: int | None) -> str:
    rows_text = "unknown rows" if rows is None else counted(rows, "row")
    return f"{counted(files, 'file')}, {human_bytes(size_bytes)}, {rows_text}"


def _size_lines(classes: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, str, str]]:
    most = max(size["files"] for size in classes)
    for size in classes:
        low, high = human_bytes(size["from_bytes"]), size["below_bytes"]
        name = f"from {low}" if high is None else f"below {human_bytes(high)}"
        bar = "\N{FULL BLOCK}" * max(round(BAR_LENGTH * size["files"] / most), size["files"] > 0)
        yield name, f"{size['files']:,}", human_bytes(size["bytes"]), bar


def print_plan(answer: Mapping[str, Any], table_format: Format) -> None:
    print_paragraph("")
    planned, effect = answer["plan"], answer["effect"]
    if planned:
        detail = f", {planned['detail']}" if planned["detail"] else ""
        print_paragraph(
            f"{planned['planner']} plans, reason {planned['reason']}{detail}: {'; '.join(planned['actions'])}"
        )
    if answer["nothing_because"]:
        print_paragraph(f"Nothing would change: {answer['nothing_because']}.")
    else:
        _print_effect(effect, table_format)
    if answer["cost"]:
        marked = "rough" if answer["cost"]["calibrated"] else "rough, uncalibrated"
        print_paragraph(f"Cost: about {_rough(answer['cost']['cpu_s'])} of CPU ({marked}).")
    print_paragraph("Nothing was written.")


def print_side_by_side(answers: Sequence[Mapping[str, Any]]) -> None:
    """Print one row per strategy."""
    print_paragraph("")
    columns = (
        "strategy", "files in", "files out", "data rewritten", Column("deletes in", shown="if any"),
        Column("deletes dropped", shown="if any"), "CPU (rough)", Column("remark", shown="if any"),
    )  # fmt: skip
    print_table(columns, [_side_by_side_cells(answer) for answer in answers])
    print_paragraph("Nothing was written.")


def _side_by_side_cells(answer: Mapping[str, Any]) -> tuple[str, ...]:
    effect, name, cost = answer["effect"], answer["strategy"], answer["cost"]
    if answer["nothing_because"]:
        return name, "0", "0", human_bytes(0), "", "", MISSING, f"nothing: {answer['nothing_because']}"
    about = "" if effect["files_out_exact"] else "about "
    read = effect["delete_files_read"] + effect["delete_files_in"]
    more = effect["delete_files_dropped_more_at_most"]  # by the commit, beyond those of the plan
    dropped = effect["delete_files_dropped"] + more
    veto = f"would be vetoed: {effect['vetoed_because']}" if effect["vetoed_because"] else ""
    return (
        name, human_count(effect["files_removed_count"]), f"{about}{effect['files_added_count']:,}",
        human_bytes(effect["read_data_bytes"]), human_count(read) if read else "",
        f"{'up to ' if more else ''}{human_count(dropped)}" if dropped else "",
        _rough(cost["cpu_s"]) if cost else MISSING, veto,
    )  # fmt: skip


def _rough(cpu_s: float) -> str:
    return human_duration(float(f"{cpu_s:.1g}"))


def _print_effect(effect: Mapping[str, Any], table_format: Format) -> None:
    for sentence in _effect_sentences(effect, table_format):
        print_paragraph(sentence)
    lines = effect["partitions"]
    if not lines:
        return
    print_paragraph("")
    print_table(
        ("partition", "groups", "files in", "files out", "bytes in", "deletes"),
        [_partition_cells(line) for line in lines[:PARTITIONS_SHOWN]],
    )
    if len(lines) > PARTITIONS_SHOWN:
        print_paragraph(f"and {counted(len(lines) - PARTITIONS_SHOWN, 'more partition')}")
    if any("files" in group for group in effect["groups_in_order"]):
        _print_files(effect["groups_in_order"])
    print_paragraph("")


def _effect_sentences(effect: Mapping[str, Any], table_format: Format) -> Iterator[str]:
    if effect["delete_groups"]:
        yield (
            f"It would rewrite {counted(effect['delete_files_in'], 'delete file')} "
            f"({human_bytes(effect['delete_bytes_in'])}) in {counted(effect['delete_groups'], 'group')}. The "
            "number of output files cannot be predicted from metadata."
        )
    if effect["files_converted"]:
        yield (
            f"The deletes of {counted(effect['files_converted'], 'data file')} would be converted to "
            "position deletes, one delete file per data file; the data files would not change."
        )
    if effect["delete_files_dropped"]:
        yield f"{counted(effect['delete_files_dropped'], 'delete file')} would be removed."
    if effect["delete_files_dropped_more_at_most"]:
        more = counted(effect["delete_files_dropped_more_at_most"], "delete file")
        yield f"Up to {more} would be dropped as well, since no data file would need them."
    if effect["vetoed_because"]:
        yield f"The plan would be vetoed: {effect['vetoed_because']}."
    if effect["groups"]:
        yield _rewrite_sentence(effect, table_format.words.title)
    if effect["delete_files_read"]:
        at_most = "" if effect["deletes_exact"] else "at most "
        deletes = table_format.words.deletes[0].capitalize()
        yield (
            f"{deletes} to apply: {at_most}{effect['delete_files_read']:,} "
            f"({human_bytes(effect['delete_bytes_read'])}), each counted once per data file it applies to."
        )


def _rewrite_sentence(effect: Mapping[str, Any], format_title: str) -> str:
    about = "" if effect["files_out_exact"] else "about "
    cut = effect["planned_groups"] - effect["groups"] - effect["delete_groups"]
    excluded = f"; a limit excludes {counted(cut, 'more group')}, and {format_title} may choose others"
    return (
        f"It would rewrite {counted(effect['files_removed_count'], 'data file')} "
        f"({human_bytes(effect['read_data_bytes'])}) in {counted(effect['groups'], 'group')} into {about}"
        f"{counted(effect['files_added_count'], 'file')}: the table "
        f"would go from {counted(effect['files_before'], 'data file')} to {about}{effect['files_after']:,}"
        f"{excluded if cut > 0 else ''}."
    )


def _partition_cells(line: Mapping[str, Any]) -> tuple[str, ...]:
    counts = (human_count(line[key]) for key in ("groups", "files_removed_count", "files_added_count"))
    return (
        line["partition"] or "(whole table)", *counts, human_bytes(line["read_data_bytes"]),
        human_count(line["delete_files_read"]),
    )  # fmt: skip


def _print_files(groups: Sequence[Mapping[str, Any]]) -> None:
    print_paragraph("")
    lines = [
        (
            str(number),
            human_bytes(f["bytes"]),
            "unknown" if f["rows"] is None else f"{f['rows']:,}",
            f["path"],
        )
        for number, group in enumerate(groups, 1)
        for f in group["files"]
    ]
    print_table(("group", "size", "rows", Column("file", is_path=True)), lines[:FILES_SHOWN])
    if len(lines) > FILES_SHOWN:
        print_paragraph(f"and {counted(len(lines) - FILES_SHOWN, 'more file')}; --format json lists them all")
