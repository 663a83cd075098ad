from records import compaction, observed

from bench.cli.progress import LiveFigures


def test_compactions_that_failed_are_counted_as_such():
    figures = LiveFigures()
    for record in (
        observed(data_files_count=3),
        compaction(status="ok", cpu_s=1.5),
        compaction(status="noop", cpu_s=0.0),
    ):
        figures.add(record)
    assert figures.text() == "3 files, 2 compactions (1.5 s CPU)"
    figures.add(compaction(status="failed", cpu_s=1.0))
    figures.add(compaction(status="vetoed", cpu_s=0.0))
    assert figures.text() == "3 files, 4 compactions, 2 of them FAILED (2.5 s CPU)"


def test_a_single_file_or_compaction_is_singular():
    figures = LiveFigures()
    figures.add(observed(data_files_count=1))
    figures.add(compaction(status="ok", cpu_s=1.5))
    assert figures.text() == "1 file, 1 compaction (1.5 s CPU)"
