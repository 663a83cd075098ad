from bench.engines.journal import Journal


def test_what_is_noted_stays_until_it_is_crossed_out(tmp_path):
    journal = Journal(tmp_path / "run" / "namespaces")
    assert journal.names() == []
    journal.cross_out("never-noted")
    for name in ("b", "a", "b"):
        journal.note(name)
    assert Journal(journal.folder).names() == ["a", "b"]
    journal.note("b", ["s3://bucket/one", "s3://bucket/two"])
    assert journal.details("b") == ("s3://bucket/one", "s3://bucket/two")
    assert journal.details("a") == journal.details("never-noted") == ()
    journal.cross_out("b")
    assert journal.names() == ["a"]
    journal.cross_out("a")
    assert not journal.folder.exists()
