from result_builder import build_group

from reports.page.sections.own_compactions import own_compactions


def test_recorded_compactions_are_beside_simulated_ones(tmp_path):
    recorded = {"count": 3, "added_bytes": 2**20, "data_files_end": 7, "delete_files_end": 0}
    group = build_group(tmp_path, mode="simulated", repetitions=1, dataset={"own_compactions": recorded})
    table = own_compactions(group)
    assert [column.title for column in table.columns] == [
        "Strategy", "Compactions", "Compaction added", "Files at end",
    ]  # fmt: skip
    first, *others = table.rows
    assert [str(cell.text) for cell in first] == ["recorded", "3", "1 MiB", "7"]
    assert [str(row[0].text) for row in others] == list(group.strategies)


def test_a_table_without_compactions_has_no_such_table(tmp_path):
    assert own_compactions(build_group(tmp_path, mode="simulated", repetitions=1, ticks=3)) is None
