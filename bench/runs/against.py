"""`run --against`: another compactbench, whose runs stand in one suite with ours as a variant.

Its workers run its own code and write its own results, so it is asked first whether we can read them and
whether it sees the same stream. What identifies a run is ours: its manifest gets our label and our hash.
"""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.errors import ScenarioError
from bench.results.records import MANIFEST, SCHEMA_VERSION, Mode, label_in
from bench.runs import facts as facts_module
from bench.runs.facts import facts
from bench.runs.manifest import shape_hash
from bench.runs.processes import Program
from bench.scenario import file as scenario_file
from bench.scenario.scenario import Scenario
from bench.scenario.variants import AGAINST, Variant
from bench.secrets import Secrets

ANSWER_S = 300.0  # a scenario of a million commits takes half a minute to shape


@dataclass(frozen=True, slots=True)
class Against:
    """The other compactbench: how to start it, what it is in words, and its hash of each scenario by name."""

    program: Program
    version: str
    hashes: Mapping[str, str]

    @property
    def variant(self) -> Variant:
        """The variant that its runs are: the only thing it sets is which compactbench."""
        return Variant(AGAINST, {"compactbench": self.version})


def meet(path: Path, scenarios: Mapping[str, Scenario], overrides: Sequence[str], mode: Mode) -> Against:
    """The compactbench at `path`, for runs of these scenarios, which are by the name or file they were given.

    Raises ScenarioError if there is none, if we could not read its results, or if it would replay another
    stream.
    """
    files = {scenario.name: str(file_of(name)) for name, scenario in scenarios.items()}
    question = {"scenarios": files, "overrides": list(overrides), "schema_version": SCHEMA_VERSION}
    program = program_at(path)
    secrets = Secrets.of_arguments(overrides)
    for scenario in scenarios.values():
        secrets |= scenario.secrets
    theirs = _ask(path, program, question, secrets)
    ours = facts(files, overrides)
    problem = next(problems(ours, theirs, mode), None)
    if problem is not None:
        raise ScenarioError(f"--against {path}: {secrets.scrub(problem)}")
    hashes = {name: seen["hash"] for name, seen in theirs["scenarios"].items()}
    return Against(program.taking(theirs["job"]["properties"]), _in_words(theirs), hashes)


def file_of(name_or_path: str) -> Path:
    """The scenario's file: the other compactbench may ship another one of the same name."""
    return scenario_file.find(name_or_path).resolve()


def program_at(path: Path) -> Program:
    """The compactbench of a checkout, of an environment's folder, or of a Python executable.

    Raises ScenarioError if there is none.
    """
    if (path / "bench" / "runs" / "worker.py").is_file():
        return Program(checkout=path.resolve())
    python = path / "bin" / "python" if path.is_dir() else path
    if python.is_file() and os.access(python, os.X_OK):
        return Program(python.absolute())  # not resolved: an environment's Python is a link
    raise ScenarioError(
        f"--against {path}: give a checkout of compactbench, or the Python of an environment that has it "
        "installed, such as ../other/.venv/bin/python"
    )


def _ask(path: Path, program: Program, question: Mapping[str, Any], secrets: Secrets) -> dict[str, Any]:
    try:
        done = subprocess.run(
            [program.python, "-P", str(facts_module.__file__)],
            input=json.dumps(question),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=ANSWER_S,
            env=program.environment(),
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ScenarioError(f"--against {path}: cannot be asked: {secrets.scrub(str(error))}") from error
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    if done.returncode or not lines:
        causes = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        cause = secrets.scrub(causes[-1] if causes else "it says nothing")
        raise ScenarioError(f"--against {path}: has no compactbench that this one can ask: {cause}")
    answer = _read(path, lines[-1])
    if program.checkout is not None and Path(answer["folder"]).resolve() != program.checkout:
        raise ScenarioError(
            f"--against {path}: {program.python} takes the code of {answer['folder']} instead"
        )
    return answer


_ALWAYS = {"schema_version", "folder", "version"}
_OF_THE_SAME_SCHEMA = {"manifest", "records", "job"}


def _read(path: Path, line: str) -> dict[str, Any]:
    """The answer. Raises ScenarioError for one that no compactbench gives."""
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        answer = None
    is_answer = isinstance(answer, dict) and answer.keys() >= _ALWAYS
    if is_answer and answer["schema_version"] == SCHEMA_VERSION:
        is_answer = answer.keys() >= _OF_THE_SAME_SCHEMA
    if not isinstance(answer, dict) or not is_answer:
        raise ScenarioError(
            f"--against {path}: has no compactbench that this one can ask: it says {line[:60]!r}"
        )
    told: dict[str, Any] = answer
    return told


def problems(ours: Mapping[str, Any], theirs: Mapping[str, Any], mode: Mode) -> Iterator[str]:
    """Why runs of the one that said `theirs` cannot stand beside runs of the one that said `ours`."""
    if theirs["schema_version"] != ours["schema_version"]:
        yield (
            f"compactbench {_number(theirs)} there writes results of schema_version "
            f"{theirs['schema_version']}, and compactbench {_number(ours)} here reads schema_version "
            f"{ours['schema_version']} only: give one that writes the same"
        )
        return
    for what in ("manifest", "records"):
        for problem in _unreadable(ours[what], theirs[what]):
            yield f"its {what} cannot be read here although they have the same schema_version: {problem}"
    unknown = sorted(set(theirs["job"]["required"]) - set(ours["job"]["properties"]))
    if unknown:
        yield f"its workers need what this compactbench does not tell them: {', '.join(unknown)}"
    if "problem" in theirs:
        yield f"it cannot read the scenario: {theirs['problem']}"
        return
    for name, seen in theirs["scenarios"].items():
        own = ours["scenarios"][name]
        if seen["strategies"] != own["strategies"]:
            yield f"it sees other strategies in {name}: {', '.join(seen['strategies'])}"
        if seen["commits"] != own["commits"]:
            yield f"it would replay another stream for {name}: other commits, rows or files"
        elif mode == "simulated" and seen["shapes"] != own["shapes"]:
            yield f"it describes the stream of {name} differently, so simulations of it are not comparable"


def _unreadable(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[str]:
    """What their JSON schema allows and ours does not."""
    own, other = _models(ours), _models(theirs)
    for name, fields in other.items():
        if name not in own:
            yield f"{name} is not known here"
            continue
        for field, found in fields.items():
            if field not in own[name]:
                yield f"{name} has the field {field}, which is not known here"
            elif not set(found) <= set(own[name][field]):
                extra = ", ".join(sorted(set(found) - set(own[name][field])))
                yield f"{name}.{field} may hold {extra}, which is not known here"


def _models(schema: Mapping[str, Any]) -> dict[str, dict[str, list[str]]]:
    """By model and field, the kinds of values that it may hold."""
    models = {str(schema.get("title", "")): schema, **schema.get("$defs", {})}
    return {
        name: {field: _kinds(value) for field, value in model["properties"].items()}
        for name, model in models.items()
        if "properties" in model
    }


def _kinds(value: Mapping[str, Any]) -> list[str]:
    if "anyOf" in value:
        return [kind for part in value["anyOf"] for kind in _kinds(part)]
    if "enum" in value or "const" in value:
        return [repr(choice) for choice in value.get("enum", [value.get("const")])]
    return [str(value.get("type") or value.get("$ref") or "any")]


def _number(told: Mapping[str, Any]) -> str:
    return told["version"] or "of an unknown version"


def _in_words(told: Mapping[str, Any]) -> str:
    git = told["git"]
    dirty = " with uncommitted changes" if git.get("dirty") else ""
    at_commit = f" at commit {git['commit'][:12]}{dirty}" if git.get("commit") else ""
    return f"{_number(told)}{at_commit}"


def adopt(folder: Path, against: Against, scenario: Scenario, label: str, index: int) -> None:
    """Give a run of the other compactbench our label and hashes, in its manifest.

    They were found to mean the same stream; its own ones depend on the defaults of its version.
    """
    file = folder / MANIFEST
    manifest = json.loads(file.read_text(encoding="utf-8"))
    manifest |= {
        "strategy": label,
        "strategy_index": index,
        "variant": against.variant.to_json(),
        "scenario_hash": scenario.hash,
    }
    if manifest["mode"] == "simulated":
        manifest["change_log_hash"] = shape_hash(scenario)
    for strategy in manifest["scenario_text"].get("strategies", ()):
        strategy["label"] = label_in(strategy["label"], AGAINST)
        for switch in strategy.get("switch", ()):
            switch["strategy"] = label_in(switch["strategy"], AGAINST)
    written = folder / f".{MANIFEST}"
    written.write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    written.replace(file)
