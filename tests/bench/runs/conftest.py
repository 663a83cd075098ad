import resource

import pytest


@pytest.fixture
def file_size_limit():
    """Sets how large a file may get: a write beyond it fails as on a full disk, with a part of it written."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size_bytes: resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
