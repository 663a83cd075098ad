"""The building blocks of a scenario file's keys: value types, their texts, and the base model of [table].

Formats use them for the keys of their tables, `bench.scenario.schema` for the whole file.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, LiteralString, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PlainSerializer,
    Strict,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from bench.names import known_text
from bench.secrets import hide
from strategies.names import near_name
from strategies.options import option_texts
from strategies.quantities import (
    BYTES_BY_UNIT,
    DURATION_DAYS_MAX,
    MILLISECONDS_BY_UNIT,
    parse_bytes,
    parse_duration_ms,
    parse_duration_s,
)

_T = TypeVar("_T")
_NO_VALUE = object()
RATE_MAX_PER_S = 10_000


def value_text(value: object) -> str:
    """A value on one line, cut to 80 characters."""
    # Secrets are hidden before the cut: half a secret is not found.
    text = hide(json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= 80 else f"{text[:77]}..."


def unknown_columns(named: Sequence[str], columns: Sequence[str]) -> str | None:
    """The problem with columns that are not among `columns`; None if there are none."""
    unknown = [name for name in named if name not in columns]
    if not unknown:
        return None
    return f"names {', '.join(unknown)}, which the table does not have: name some of {', '.join(columns)}"


def duration_text(seconds: float) -> str:
    """The text with the largest unit that `parse_duration_s` reads as exactly `seconds`: 600 is "10min"."""
    is_readable = 0 <= seconds <= DURATION_DAYS_MAX * MILLISECONDS_BY_UNIT["d"] / 1000
    if is_readable and (milliseconds := round(seconds * 1000)) / 1000 == seconds:
        return duration_ms_text(milliseconds)
    return f"{Decimal(repr(seconds)).normalize():f}s" if math.isfinite(seconds) else str(seconds)


def duration_ms_text(milliseconds: int) -> str:
    """The text with the largest unit that `parse_duration_ms` reads as `milliseconds`: 600_000 is "10min"."""
    for unit in ("d", "h", "min", "s"):
        if milliseconds and milliseconds % MILLISECONDS_BY_UNIT[unit] == 0:
            return f"{milliseconds // MILLISECONDS_BY_UNIT[unit]}{unit}"
    return f"{milliseconds}ms" if milliseconds else "0s"


def parse_rate_per_s(text: object) -> float:
    """How many a second: "2/s", "30/min" and "100/h". Raises ValueError unless it is above 0."""
    number, slash, unit = str(text).partition("/")
    try:
        rate_per_s = float(number) * 1000 / MILLISECONDS_BY_UNIT[unit.strip()] if slash else 0.0
    except (KeyError, ValueError):
        rate_per_s = 0.0
    if not 0 < rate_per_s <= RATE_MAX_PER_S:
        raise ValueError(f'must be a rate such as "2/s" or "30/min", above 0 and at most {RATE_MAX_PER_S}/s')
    return rate_per_s


def rate_text(rate_per_s: float) -> str:
    return f"{rate_per_s:.15g}/s"


def bytes_text(size_bytes: int) -> str:
    """The text with the largest unit that `parse_bytes` reads as `size_bytes`: 134217728 is "128MiB"."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if size_bytes and size_bytes % BYTES_BY_UNIT[unit] == 0:
            return f"{size_bytes // BYTES_BY_UNIT[unit]}{unit}"
    return f"{size_bytes}B"


def flat(table: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Nested tables as one table with dotted keys: in TOML the unquoted key a.b is a table a with a key b."""
    result: dict[str, object] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            result.update(flat(value, f"{prefix}{key}."))
        else:
            result[f"{prefix}{key}"] = value
    return result


def _flat_texts(value: object) -> object:
    """Property values as text, e.g. 8MiB in bytes for keys that end in "-bytes"."""
    if not isinstance(value, Mapping):
        return value
    table = flat(value)
    if not all(isinstance(item, str | int | float) for item in table.values()):
        return table
    return {key: _property_text(key, item) for key, item in table.items()}


def _property_text(key: str, value: Any) -> str:
    try:
        return option_texts({key: value})[key]
    except ValueError as error:
        raise error_at(key, str(error), value) from None


def error_at(
    key: str | None, problem: str, value: object = _NO_VALUE, *, code: LiteralString = "invalid"
) -> ValidationError:
    """An error in one key of the table that is being validated, or in the table as a whole (None).

    Raised by a validator of the table, it names the key instead of the table.
    """
    context = {"problem": problem, "has_value": value is not _NO_VALUE}
    error = PydanticCustomError(code, "{problem}", context)
    place = () if key is None else (key,)
    return ValidationError.from_exception_data(
        code, [InitErrorDetails(type=error, loc=place, input=None if value is _NO_VALUE else value)]
    )


def _raised_again(error: ValidationError) -> list[InitErrorDetails]:
    """The errors in a table, to be raised with others. They are copies: an error itself keeps frames alive.

    Left out are pydantic's own for missing keys, which `Keys` words itself.
    """
    details = error.errors(include_url=False)
    return [_copied(detail) for detail in details if detail["type"] != "missing" or "ctx" in detail]


def _copied(detail: ErrorDetails) -> InitErrorDetails:
    has_value = detail.get("ctx", {}).get("has_value", True)
    error = PydanticCustomError(
        detail["type"], "{problem}", {"problem": detail["msg"], "has_value": has_value}
    )
    return InitErrorDetails(type=error, loc=detail["loc"], input=detail["input"])


def matching(pattern: str, words: str) -> AfterValidator:
    """Accepts text that matches the whole pattern; `words` complete the error "must be ..."."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"must be {words}")
        return text

    return AfterValidator(check)


def _quantity(units: Iterable[str]) -> Any:
    """What a JSON schema says of text with one of these units."""
    return Annotated[str, Field(pattern=rf"^\s*[0-9]+(\.[0-9]+)?\s*({'|'.join(units)})\s*$")]


_Time, _Amount = _quantity(MILLISECONDS_BY_UNIT), _quantity(BYTES_BY_UNIT)
_Flattened = dict[str, str | float | bool | dict[str, Any]]  # what `flat` takes

Listed = Annotated[tuple[_T, ...], Strict(False)]  # TOML has lists only
Duration = Annotated[
    int, BeforeValidator(parse_duration_ms, json_schema_input_type=_Time), PlainSerializer(duration_ms_text)
]
Seconds = Annotated[
    float, BeforeValidator(parse_duration_s, json_schema_input_type=_Time), PlainSerializer(duration_text)
]
Size = Annotated[
    int,
    BeforeValidator(parse_bytes, json_schema_input_type=_Amount),
    Field(lt=2**63),
    PlainSerializer(bytes_text),
]
Rate = Annotated[
    float, BeforeValidator(parse_rate_per_s, json_schema_input_type=str), PlainSerializer(rate_text)
]
Texts = Annotated[dict[str, str], BeforeValidator(_flat_texts, json_schema_input_type=_Flattened)]
Identifier = Annotated[
    str, matching(r"[A-Za-z_][A-Za-z0-9_]{0,59}", "1 to 60 ASCII letters, digits and _, not a digit first")
]


class Keys(BaseModel):
    """A table of a scenario file: an unknown key is an error, and no value is converted silently."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="wrap")
    @classmethod
    def _check_names(cls, table: object, validate: ModelWrapValidatorHandler[Self]) -> Self:
        """Adds errors in names to those in values.

        Names are checked here, since a misspelt key is also missing, and its own name leads to the remedy.
        """
        if not isinstance(table, Mapping) or cls.model_config.get("extra") == "allow":
            return validate(table)
        problems = [detail for error in cls._wrong_names(table) for detail in _raised_again(error)]
        if not problems:
            return validate(table)
        known = cls.fields_by_key()
        try:
            validate({key: value for key, value in table.items() if key in known})
        except ValidationError as error:
            problems += _raised_again(error)
        raise ValidationError.from_exception_data(cls.__name__, problems)

    @classmethod
    def _wrong_names(cls, table: Mapping[str, object]) -> Iterator[ValidationError]:
        """Unknown keys, then missing ones unless an unknown key seems to be meant for them."""
        known, meant = cls.fields_by_key(), set()
        for key, value in table.items():
            if key not in known:
                names = cls.keys_like(key)
                meant.add(near_name(key, names))
                problem = f"unknown key; {known_text(key, names)}"
                yield error_at(key, problem, value, code="unknown-name")
        for key, field in known.items():
            if field.is_required() and key not in table and key not in meant:
                yield error_at(key, f"is missing{_hint(key, field)}", code="missing")

    @classmethod
    def fields_by_key(cls) -> dict[str, FieldInfo]:
        return {field.alias or name: field for name, field in cls.model_fields.items()}

    @classmethod
    def keys_like(cls, key: str) -> list[str]:
        """The keys to suggest for an unknown one."""
        return list(cls.fields_by_key())


def _hint(key: str, field: FieldInfo) -> str:
    if field.examples:
        return f", e.g. {key} = {value_text(field.examples[0])}"
    return f": it must be {field.description}" if field.description else ""


class TableKeys(Keys):
    """[table]: the keys that every format has. A format adds its own and narrows `format` to its own name.

    A format with a choice of versions sets `version_key`, the key for it, and overrides `version` and
    `versions`.
    """

    version_key: ClassVar[str | None] = None

    format: str
    target_file_size_bytes: Size = Field(alias="target_file_size", gt=0, examples=["128MiB"])
    partitioning: Literal["none", "day", "bucket", "city"] = "none"
    buckets: int | None = Field(default=None, ge=1, le=10_000)  # a commit writes a file to each
    properties: Texts = {}

    @property
    def version(self) -> int | None:
        return None

    @classmethod
    def versions(cls) -> tuple[int, ...]:
        return ()

    def own(self) -> dict[str, Any]:
        """The values of the keys that only this format has."""
        return self.model_dump(mode="json", by_alias=True, exclude=set(TableKeys.model_fields))
