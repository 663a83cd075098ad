from bench.engines.delta.model.versions import Storage


def test_a_file_stays_until_it_is_vacuumed():
    storage = Storage()
    storage.write("a", 10)
    storage.write("b", 5)
    storage.drop("a", 60)
    storage.vacuum(60)
    assert (storage.size_bytes, storage.files_count) == (15, 2)
    storage.vacuum(61)
    assert (storage.size_bytes, storage.files_count) == (5, 1)


def test_a_file_of_vectors_stays_while_one_of_them_is_live():
    storage = Storage()
    storage.write("vectors", 10, references=2)
    storage.drop("vectors", 60)
    storage.vacuum(1_000)
    assert storage.size_bytes == 10
    storage.drop("vectors", 120)
    storage.vacuum(121)
    assert (storage.size_bytes, storage.files_count) == (0, 0)
