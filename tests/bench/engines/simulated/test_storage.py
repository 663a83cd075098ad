from bench.engines.simulated.storage import Storage


def test_a_file_stays_until_it_is_deleted():
    storage = Storage()
    storage.write(10, count=2)
    storage.write(5)
    storage.write(7)
    storage.drop(70, 7)
    storage.drop(60, 10, count=2)
    assert storage.delete(60) == 0
    assert storage.size_bytes == 32
    assert storage.delete(61) == 2
    assert storage.size_bytes == 12
