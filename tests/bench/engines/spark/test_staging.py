import pytest
from refused import refused

from bench.engines.journal import Journal
from bench.engines.spark.staging import STAGED, Staging, opened_staging, staging_of

pytestmark = pytest.mark.spark


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "commit-1.parquet"
    file.write_bytes(b"12345")
    return file


def test_without_staging_files_stay_where_they_are(spark, file, tmp_path):
    staging = Staging(spark, None)
    assert staging.readable([file]) == [str(file)]
    targets = []
    staging.written(tmp_path / "dump", targets.append)
    assert targets == [f"file://{tmp_path}/dump"]
    staging.close()
    assert file.exists()


def test_files_go_through_the_staging_folder_and_none_is_left_there(spark, file, tmp_path):
    shared = tmp_path / "shared"
    staging = Staging(spark, (shared / "run-1").as_uri())
    first, again = staging.readable([file, file])
    assert first == again
    assert spark.read.text(first).collect()[0].value == "12345"
    rows = spark.range(3)
    staging.written(tmp_path / "dump", lambda target: rows.coalesce(1).write.parquet(target))
    assert spark.read.parquet(str(tmp_path / "dump")).count() == 3
    staging.close()
    assert list(shared.iterdir()) == []


def test_what_is_staged_is_noted_until_it_is_removed(spark, file, tmp_path):
    journal, folder = Journal(tmp_path / "noted"), tmp_path / "run-1"
    with opened_staging(spark, folder.as_uri(), journal):
        assert journal.names() == [STAGED]
        staging_of(spark.newSession()).readable([file])
        assert list(folder.rglob(file.name))
    assert journal.names() == []
    assert not folder.exists()
    assert staging_of(spark).folder is None
    journal.note(STAGED)  # by a run that was killed
    (folder / "0").mkdir(parents=True)
    with opened_staging(spark, folder.as_uri(), journal):
        pass
    assert journal.names() == []
    assert not folder.exists()


def test_a_location_that_hadoop_does_not_know_is_an_error(spark):
    with refused("unsupported", "spark.staging"):
        Staging(spark, "nosuch://host/x")
