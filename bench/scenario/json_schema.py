"""The JSON schema of scenario files, with which editors complete and check them.

It is made from the models and plug-ins that read the files, and refuses what these refuse in one key alone.
What contradicts another key is found by `compactbench validate`. Descriptions are the comments of the shipped
scenario `example` and the sentences of docstrings that name a key.
"""

import inspect
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, Union

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from bench.engines.registry import FORMATS
from bench.scenario import file as scenario_file
from bench.scenario.plugins import (
    ARRIVAL,
    PLANNER,
    TRIGGER,
    WORKLOAD,
    PluginKind,
    classes_of,
    describe,
    model_of,
)
from bench.scenario.price_presets import shipped_presets
from bench.scenario.schema import with_table
from strategies.planner import known_options_of

_Schema = dict[str, Any]

_DIALECT = "http://json-schema.org/draft-07/schema#"  # the newest one that editors of TOML implement in full
_KINDS: tuple[PluginKind[Any], ...] = (PLANNER, TRIGGER, WORKLOAD, ARRIVAL)
_SCALAR: _Schema = {"type": ["string", "number", "boolean"]}
_LEFT_OUT = ("title", "gt", "lt")  # the last two are limits of quantities, which scenarios write as text
_TABLE = re.compile(r"(?:# )?\[\[?(\w+)\]\]?")
_KEY = re.compile(r"(?:# )?(\w+) = ")


def scenario_schema() -> _Schema:
    """Raises ScenarioError if an installed plug-in is broken."""
    tables = tuple(table_format.table.keys for table_format in FORMATS.values())
    schema = _written(with_table(Union[tables]))  # noqa: UP007 - of a tuple
    definitions = schema["$defs"]
    definitions |= {kind.word: _any_of(kind) for kind in _KINDS}
    _name_choices(definitions)
    _describe_by_example(schema)
    linked: _Schema = _linked(schema)
    return {"$schema": _DIALECT, "title": "A scenario of compactbench", **linked}


def schema_text() -> str:
    return json.dumps(scenario_schema(), indent=2, ensure_ascii=False) + "\n"


class _Generator(GenerateJsonSchema):
    """Writes keys and defaults as scenarios do, and {"plugin": KIND} wherever a plug-in may stand."""

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        written = super().generate_inner(schema)
        return {key: value for key, value in written.items() if key not in _LEFT_OUT}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        written = super().model_schema(schema)
        model: type[BaseModel] = schema["cls"]
        defaults = model.model_construct().model_dump(
            mode="json", by_alias=True, exclude_none=True, warnings=False, fallback=repr
        )
        text = inspect.cleandoc(model.__doc__ or "")
        for key, described in written["properties"].items():
            if defaults.get(key) not in (None, "", [], {}):
                described["default"] = defaults[key]
            if sentences := _sentences_about(key, text):
                described["description"] = sentences
        return written

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])  # TOML has no null

    def function_plain_schema(self, schema: core_schema.PlainValidatorFunctionSchema) -> JsonSchemaValue:
        metadata = schema.get("metadata", {})
        return {"plugin": metadata["plugin"]} if "plugin" in metadata else {}

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> JsonSchemaValue:
        return {}  # a type of the user's own plug-in, which may be anything


def _written(model: type[BaseModel]) -> _Schema:
    return model.model_json_schema(schema_generator=_Generator)


def _any_of(kind: PluginKind[Any]) -> _Schema:
    """A registered or installed plug-in of a kind, or the user's own, whose options are not known."""
    own = {
        "type": "object",
        "description": f"Your own {kind.word}, as module:Class.",
        "properties": {"type": {"type": "string", "pattern": ":"}},
        "required": ["type"],
    }
    return {"anyOf": [*(_plugin(name, cls) for name, cls in classes_of(kind).items()), own]}


def _plugin(name: str, cls: Any) -> _Schema:
    described, written = describe(cls, name), _written(model_of(cls))
    text = f"{described.doc}\n\n{described.details}".strip()
    properties = written.pop("properties")
    for key, option in properties.items():
        if sentences := _sentences_about(key, text):
            option["description"] = sentences
    if (known := known_options_of(cls)) and "options" in properties:
        properties["options"] |= _options(known)
    return {
        **written,
        "description": text,
        "properties": {"type": {"const": name}, **properties},
        "required": ["type", *written.get("required", ())],
    }


def _options(known: Mapping[str, str]) -> _Schema:
    """Options under the names of another system. Without quotes, TOML makes a table of a name with a dot."""
    tables = {name.partition(".")[0] for name in known if "." in name}
    return {
        "properties": {
            **{name: {**_SCALAR, "description": f"Default: {known[name]}"} for name in known},
            **{table: {"type": "object"} for table in sorted(tables - known.keys())},
        },
        "additionalProperties": False,
    }


def _name_choices(definitions: _Schema) -> None:
    """Name the choices of keys that are text in the models, because each format has its own."""
    formats = FORMATS.values()
    choices: Mapping[tuple[str, str], Iterable[str]] = {
        ("WriterKeys", "upsert_mode"): (mode for known in formats for mode in known.writer.upsert_modes),
        ("StrategyRuleKeys", "executor"): (name for known in formats for name in known.engines.executors),
    }
    for (model, key), names in choices.items():
        definitions[model]["properties"][key]["enum"] = sorted(set(names))
    definitions["Prices"]["properties"]["preset"]["anyOf"] = [
        {"enum": list(shipped_presets())}, {"pattern": r"\.toml$"},
    ]  # fmt: skip
    definitions["Spark"] |= {
        "additionalProperties": False,
        "patternProperties": {r"^spark(\.|$)": {"type": [*_SCALAR["type"], "object"]}},
    }


def _describe_by_example(schema: _Schema) -> None:
    """Describe keys that have no description by the comments of the scenario that explains every key."""
    explained = _explained(scenario_file.shipped()["example"].read_text(encoding="utf-8"))
    for name, entry in schema["properties"].items():
        if text := explained.get(("", name)):
            entry.setdefault("description", text)
        alternatives = entry.get("anyOf", [entry.get("items", entry)])
        for reference in (one["$ref"] for one in alternatives if "$ref" in one):
            definition = schema["$defs"][reference.rpartition("/")[2]]
            for key, described in definition["properties"].items():
                if text := explained.get((name, key)):
                    described.setdefault("description", text)


def _explained(text: str) -> dict[tuple[str, str], str]:
    """By table and key, the comment beside the key, or before it and the keys that it begins.

    The keys of the file itself, and its tables, have "" as their table. They may be commented out.
    """
    found: dict[tuple[str, str], str] = {}
    table, comment, goes_on = "", "", False
    for line in text.splitlines():
        if header := _TABLE.fullmatch(line):
            table = header[1]
            found.setdefault(("", table), comment)
            comment, goes_on = "", False
        elif (key := _KEY.match(line)) and not _is_prose(line):
            goes_on = False
            if words := line.partition(" # ")[2] or comment:
                found.setdefault((table, key[1]), words)
        elif line.startswith("#"):
            comment = f"{comment if goes_on else ''} {line.lstrip('# ')}".strip()
            goes_on = True
        else:
            comment, goes_on = "", False
    return found


def _is_prose(line: str) -> bool:
    """Whether a line that seems to be a key is within a comment, as in "# primary = true. A probe reads"."""
    try:
        tomllib.loads(line.removeprefix("# "))
    except tomllib.TOMLDecodeError:
        return line.startswith("#")
    return False


def _sentences_about(key: str, text: str) -> str:
    """The sentences of a docstring that name a key."""
    sentences = re.split(r"(?<=[.!?])\s+", " ".join(text.split()))
    return " ".join(sentence for sentence in sentences if f"`{key}`" in sentence)


def _linked(value: Any) -> Any:
    """`value` with a reference for each {"plugin": KIND}."""
    if isinstance(value, list):
        return [_linked(item) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(kind := value.get("plugin"), str):
        return {"$ref": f"#/$defs/{kind}", **{key: value[key] for key in value if key != "plugin"}}
    return {key: _linked(item) for key, item in value.items()}
