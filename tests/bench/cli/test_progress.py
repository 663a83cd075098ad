from records import compaction, observed

from bench.cli.progress import Live


def test_compactions_that_failed_are_told_as_such():
    live = Live()
    for record in (
        observed(data_files_count=3),
        compaction(status="ok", cpu_s=1.5),
        compaction(status="noop", cpu_s=0.0),
    ):
        live.heard(record)
    assert live.text() == "3 files, 2 compactions (1.5 s CPU)"
    live.heard(compaction(status="failed", cpu_s=1.0))
    live.heard(compaction(status="vetoed", cpu_s=0.0))
    assert live.text() == "3 files, 4 compactions, 2 of them FAILED (2.5 s CPU)"
