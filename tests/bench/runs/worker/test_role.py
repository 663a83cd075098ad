"""How a role ends that has failed, without Spark."""

import errno
from types import SimpleNamespace

from bench.runs.worker.live import role
from bench.runs.worker.live.barrier import Barrier
from bench.secrets import NO_SECRETS


def test_a_role_that_cannot_even_note_its_error_ends_as_failed(tmp_path, monkeypatch, capsys):
    """On a full disk nobody can; then the run says that its process has ended."""

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(role, "execute_role", full)
    monkeypatch.setattr(Barrier, "mark", full)
    scenario = SimpleNamespace(made=lambda: SimpleNamespace(secrets=NO_SECRETS))
    assert not role.do_role(SimpleNamespace(scenario=scenario, barrier=tmp_path, role="reader"))
    assert "No space left on device" in capsys.readouterr().err
