import ctypes
import mmap

from bench.replay.page_cache import drop_page_cache

SIZE_BYTES = 64 * mmap.PAGESIZE


def cached_pages(file):
    """How many pages of a file are in the page cache, by the system call mincore."""
    with file.open("r+b") as opened, mmap.mmap(opened.fileno(), 0) as mapped:
        states = (ctypes.c_ubyte * (SIZE_BYTES // mmap.PAGESIZE))()
        view = ctypes.c_char.from_buffer(mapped)
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.mincore(ctypes.c_void_p(ctypes.addressof(view)), ctypes.c_size_t(SIZE_BYTES), states) == 0
        del view
        return sum(state & 1 for state in states)


def test_files_of_all_folders_leave_the_page_cache(tmp_path):
    (tmp_path / "data" / "day=1").mkdir(parents=True)
    files = [tmp_path / "metadata.json", tmp_path / "data" / "day=1" / "part.parquet"]
    for file in files:
        file.write_bytes(b"x" * SIZE_BYTES)
    assert all(cached_pages(file) == 64 for file in files)
    drop_page_cache(tmp_path)
    assert [cached_pages(file) for file in files] == [0, 0]
    assert all(file.read_bytes() == b"x" * SIZE_BYTES for file in files)
