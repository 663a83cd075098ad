import pytest

from strategies.iceberg.delete_planners import ConvertDeletes, RemoveDanglingDeletes
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile
from strategies.plan import PlanError
from strategies.state import TableState


@pytest.mark.parametrize("planner", [ConvertDeletes(), RemoveDanglingDeletes()])
def test_planners_that_look_at_files_refuse_the_state_of_another_format(planner):
    with pytest.raises(PlanError, match="IcebergState"):
        planner.decide(TableState(0, 100))


@pytest.mark.parametrize("kind", [DeleteKind.EQUALITY, DeleteKind.POSITION])
def test_the_key_of_a_delete_file_is_its_path(kind):
    assert IcebergDeleteFile("d", 1, 1, referenced_data_file="f", kind=kind).key == "d"


def test_vectors_of_one_puffin_file_have_keys_of_their_own():
    vectors = [
        IcebergDeleteFile("v", 1, 1, referenced_data_file=name, kind=DeleteKind.DELETION_VECTOR)
        for name in "ab"
    ]
    assert [vector.key for vector in vectors] == ["v#a", "v#b"]
    assert IcebergDataFile("a", 1, 1).key == "a"
