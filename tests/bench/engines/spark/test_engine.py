"""The skeleton of engines on Spark, on a table whose metadata is made up: no session runs."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from py4j.protocol import Py4JJavaError

from bench.engines.contract import TableSpec, Tag, Version
from bench.engines.iceberg.ledger import PLANNING, iceberg_ledger
from bench.engines.ledger import TableReading
from bench.engines.spark.engine import SparkEngine, one_line
from bench.engines.spark.meter import Measured
from bench.results.values import Change
from strategies.iceberg.commands import Command
from strategies.iceberg.files import IcebergDataFile
from strategies.plan import Capability, Compact, FileGroup, Native, Plan, Reason, Rewrite

FILE = IcebergDataFile("a", 10, 1)
REWRITE = Rewrite((FileGroup(("a",)),), 100)
COMMAND = Native(Command.REWRITE_MANIFESTS)


class FreeMeter:
    """Measures nothing."""

    role = None

    @contextmanager
    def step(self):
        yield Measured(None, None)


class MadeUpEngine(SparkEngine[str]):
    """A table of one file. Whenever it is read, another writer has committed, without a tag of ours.

    Staging a rewrite fails, and so do commands where they are `refused`.
    """

    format_name = "made up"

    def __init__(self, *capabilities, refused=False, application="compactbench"):
        self.capabilities, self.refused = frozenset(capabilities), refused
        context = SimpleNamespace(applicationId="local-1", appName=application)
        spark = SimpleNamespace(sparkContext=context)
        super().__init__(spark, FreeMeter(), "t", TableSpec(100), iceberg_ledger(100, {}), PLANNING, None)

    def _create(self):
        pass

    def _prepare(self, batch, tag):
        raise NotImplementedError

    def stage(self, action, at_ms):
        raise ValueError("a is gone")

    def execute(self, action, prepared, tag):
        if self.refused:
            raise ValueError("refused")

    def _answer(self, answers):
        return {}

    def _read(self, at_ms):
        version = Version("v1", "overwrite", Change(files_added_count=1))
        return TableReading({"a": FILE}, (version,), 10, 1)

    def sibling(self, name):
        raise NotImplementedError

    def _codec(self):
        return "zstd"

    def _use(self):
        pass

    def _drop(self):
        pass


def outcome_of(engine, *actions):
    engine.create()
    return engine.complete(engine.schedule(Plan(actions, Reason.OTHER), 60_000, 60_000), 60_000)


OWN_TAG = Tag("compactor", "plan-1", 60_000)
METADATA = Version(None, "metadata", Change())


def from_application(name, number="local-2"):
    change = Change(files_added_count=2, added_rows=40)
    return Version("v9", "overwrite", change, application=number, application_name=name)


@pytest.mark.parametrize(
    ("role", "version", "tag"),
    [
        ("compactor", from_application("compactbench/compactor", "local-1"), OWN_TAG),
        # two processes may begin in the same millisecond, by which Spark names local applications
        ("compactor", from_application("compactbench/reader", "local-1"), None),
        ("compactor", from_application("compactbench/writer"), Tag("writer", "commit", 60_000, 40)),
        ("writer", from_application("compactbench/compactor"), None),
        ("compactor", METADATA, None),
        ("maintainer", METADATA, OWN_TAG),
        # Hudi stores no application, and what wrote data is not the maintainer's
        ("maintainer", Version("v9", "commit", Change()), None),
    ],
)
def test_among_roles_a_version_without_a_tag_is_of_the_application_that_made_it(role, version, tag):
    engine = MadeUpEngine(application=f"compactbench/{role}")
    assert engine._attributed(version, OWN_TAG, 60_000).tag == tag


@pytest.mark.parametrize(
    ("capabilities", "actions", "status"),
    [
        ((), (Compact(),), "vetoed"),
        ((), (COMMAND,), "vetoed"),
        ((Capability.REWRITE, Command.REWRITE_MANIFESTS), (REWRITE, COMMAND), "failed"),
    ],
)
def test_a_plan_that_never_began_claims_no_version_of_another_writer(capabilities, actions, status):
    outcome = outcome_of(MadeUpEngine(*capabilities), *actions)
    assert (outcome.status, outcome.versions) == (status, ())


@pytest.mark.parametrize(("refused", "status"), [(False, "ok"), (True, "failed")])
def test_a_command_claims_the_versions_without_a_tag_even_where_it_failed(refused, status):
    outcome = outcome_of(MadeUpEngine(Command.REWRITE_MANIFESTS, refused=refused), COMMAND)
    assert outcome.status == status
    assert [version.tag for version in outcome.versions] == [Tag("compactor", "compaction-1", 60_000)]


def java_error(*told):
    """The error of Java with these texts, each caused by the next."""
    exception = None
    for text in reversed(told):
        exception = SimpleNamespace(
            toString=lambda text=text: f"{text}\n\tat somewhere", getCause=lambda cause=exception: cause
        )
    error = Py4JJavaError.__new__(Py4JJavaError)
    error.java_exception = exception
    return error


@pytest.mark.parametrize(
    ("told", "line"),
    [
        (("RESTException: failed",), "RESTException: failed"),
        (
            ("RESTException: failed", "Other", "Timeout: no answer"),
            "RESTException: failed (Timeout: no answer)",
        ),
        (
            ("RuntimeException: Timeout: no answer", "Timeout: no answer"),
            "RuntimeException: Timeout: no answer",
        ),
    ],
)
def test_an_error_of_java_is_told_with_what_caused_it(told, line):
    assert one_line(java_error(*told)) == line


def test_an_error_without_a_text_is_told_by_its_class():
    assert one_line(MemoryError()) == "MemoryError"
