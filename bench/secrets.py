"""Secrets: which settings contain one, and how they are kept out of everything that is written or printed.

By name: the value of a key such as `fs.s3a.secret.key` is hidden, in settings and in texts (`key=value`,
`"key": "value"`), and so are passwords in URIs (`user:password@host`). By value: `Secrets` remembers the
secret values of settings and removes them from any later text, such as an error message of Spark. What is not
covered is listed in docs/security.md.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import quote, quote_plus, unquote

from pydantic import BaseModel

HIDDEN = "(hidden)"
# In place of a value, the variable that has it; of a credential after the id it is for: CLIENT:env:NAME.
VARIABLE = re.compile(r"((?:[^\s:]+:)?)env:([A-Za-z_][A-Za-z0-9_]*)")

_Model = TypeVar("_Model", bound=BaseModel)

# A shorter value is hidden only next to its key: replacing it everywhere would mangle any text.
_LENGTH_MIN = 4
# A user name without a password is taken for a token if it is this long, as in https://TOKEN@host.
_TOKEN_LENGTH_MIN = 16
# So common that replacing them hides nothing, but reveals which word was the secret.
_PLAIN_WORDS = frozenset({"true", "false", "none", "null", "default", "password", "secret", "token", "env:"})
_NUMBER = re.compile(r"[-+]?[\d._]+")

# Azure's keys end with the account they are for: fs.azure.account.key.<account>.dfs.core.windows.net.
_AZURE_ACCOUNT = re.compile(r"\.[\w-]+\.(?:dfs|blob|file|queue|table)\.core\.[\w.]+$")
_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

# Matched against a key in lower case with hyphens between its words. An access key id is only an identifier,
# but people rarely want it in a configuration that they show to others.
_SECRET = re.compile(
    r"""secret | passw | pswd | passphrase | passcode | credential | api-?key | conn(?:ection)?-?str(?:ing)?
      | private-?key | access-?key | account-?key | shared-?key | signing-?key | license-?key
      | tokens?\d*(?:-|$) | pwd\d*(?:-|$) | (?:^|-)creds(?:-|$) | (?:^|-)(?:pw|pat|sig|auth)$ | signature$
      | (?:^|-)(?:db|pg|my|user|store|key)?pass$ | (?:^|-)sas(?:-|$)
      | authorization$ | (?:^|-)bearer$ | cookies?$ | (?:^|-)jaas(?:-|$)
      | (?:en|de)cryption-?keys?(?:-|$)
      | (?:^|-)(?:sse|sas|hmac|master|session|storage|customer|subscription|functions)-?key(?:-|$)
      | (?:(?:key|trust)-?store-|(?:^|-)ssl-?)key$ | service-account-(?:json|key)""",
    re.VERBOSE,
)
# Last words of keys that are about a secret but contain none: token-refresh-enabled, credentials.provider.
_ABOUT = re.compile(
    r"""-(?:enabled|disabled|providers?|provider-path|class|class-?name|type|impl|format|version|algorithm
      |uri|url|endpoint|path|file|keyfile|token-?file|toml|location|name|user-?name|alias|scopes?|issuer|audience
      |timeout|interval|duration|expiry|expiration|expires-(?:at|in)|ms|seconds|size|length|bits|count
      |regex|(?<!access-)key-id)$""",
    re.VERBOSE,
)

# In a URI, `user:password` up to the last @, since passwords may contain @ and / too, or a user alone. Not a
# port, as in host:8020/path@x, nor a location, as in abfss://container@account.
_USER_INFO = re.compile(
    r"""(?<!\babfs:)(?<!\babfss:)(?<!\bwasb:)(?<!\bwasbs:)
        //([^\s/:@"'<>]{0,200}:(?!\d{1,5}[/?\#,;])[^\s"'<>]{0,2000} | [^\s/?\#@:"'<>]{1,2000})@""",
    re.VERBOSE | re.IGNORECASE,
)
# A key and what separates it from its value: key=, key: (no URI), "key": in JSON, key -> in Scala's maps.
# A name that follows a slash is that of a file.
_KEY = re.compile(r"""(?<![\w.\-/])([\w.\-]+)[\\"'\]]{0,4}\s{0,40}(?:=>?|->|:(?!//))\s{0,40}""")
# A value is quoted, or ends at a space (without closing brackets and quotes before it) or at the next `key=`.
_VALUE = re.compile(
    r"""(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<bare>(?:\(hidden\)\S*?|(?:(?:bearer|basic)\s+)?\S+?))
        (?=["'<>)\]},;:&]{0,8}(?:\s|\Z) | [,;&]\s{0,4}["']?[\w.\-]{1,80}["']?\s{0,4}=)""",
    re.VERBOSE | re.IGNORECASE,
)


@lru_cache(maxsize=10_000)
def is_secret_key(key: str) -> bool:
    """Whether a setting of this name contains a secret, judging by the words in the name."""
    name = _AZURE_ACCOUNT.sub("", key.removeprefix("-D"))  # -D sets a property of a JVM
    words = re.sub(r"[^a-z0-9]+", "-", _CAMEL_CASE.sub("-", name).lower()).strip("-")
    return _SECRET.search(words) is not None and _ABOUT.search(words) is None


def hide(text: str) -> str:
    """`text` without the secrets that can be recognised in it: passwords in URIs, values of secret keys."""
    parts, done = [], 0
    without_users = _USER_INFO.sub(f"//{HIDDEN}@", text)
    for start, end in _pair_spans(without_users):
        parts += [without_users[done:start], HIDDEN]
        done = end
    return "".join([*parts, without_users[done:]])


def key_of(setting: str) -> str:
    """The key of `key=value`, or of `key value` (a forgotten equals sign), so that errors show no value."""
    return re.split(r"[\s=]", setting.strip(), maxsplit=1)[0]


def hide_setting(setting: str) -> str:
    key, equals, _ = setting.partition("=")
    return f"{key}={HIDDEN}" if equals and is_secret_key(key) else hide(setting)


def hidden(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without their secrets; dotted and nested keys mean the same."""
    return {key: _cleaned(item, key, hide) for key, item in settings.items()}


@dataclass(frozen=True, slots=True)
class Secrets:
    """Secret values to remove from texts; without any, `scrub` still does what `hide` does."""

    literals: frozenset[str] = field(default=frozenset(), repr=False)

    @classmethod
    def of(cls, *settings: Mapping[str, Any]) -> "Secrets":
        """The secret values of settings, nested or not."""
        return cls(frozenset(_worth_hiding(value for nested in settings for value in _values(nested, ""))))

    @classmethod
    def of_values(cls, values: Iterable[str]) -> "Secrets":
        return cls(frozenset(_worth_hiding(values)))

    @classmethod
    def of_arguments(cls, arguments: Iterable[str]) -> "Secrets":
        """The secret values of command-line words such as `key=value` and `--option=key=value`."""
        return cls(frozenset(_worth_hiding(value for word in arguments for value in _argument_values(word))))

    def __or__(self, other: "Secrets") -> "Secrets":
        return Secrets(self.literals | other.literals)

    def scrub(self, text: str) -> str:
        """`text` without these values and without the secrets that `hide` recognises."""
        pattern = _pattern(self.literals)
        return hide(pattern.sub(HIDDEN, text) if pattern else text)

    def are_shown_by(self, key: str, value: str) -> bool:
        """Whether the key is a secret's, or the value contains one."""
        return is_secret_key(key) or self.scrub(value) != value

    def clean(self, value: Any) -> Any:
        """A JSON-like value, scrubbed; values of secret keys are always hidden."""
        return _cleaned(value, "", self.scrub)

    def clean_model(self, model: _Model, keep: frozenset[str]) -> _Model:
        """A model, scrubbed except for its fields in `keep`."""
        cleaned = {
            name: _cleaned(value, name, self.scrub)
            for name, value in model
            if name not in keep and isinstance(value, str | list | dict)
        }
        changed = {name: value for name, value in cleaned.items() if value != getattr(model, name)}
        return model.model_copy(update=changed) if changed else model


NO_SECRETS = Secrets()


def _cleaned(value: Any, key: str, clean: Callable[[str], str]) -> Any:
    """`key` is the path to `value`, dotted."""
    if isinstance(value, Mapping):
        return {name: _cleaned(item, _joined(key, name), clean) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_cleaned(item, key, clean) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if value != "" and is_secret_key(key):
        return HIDDEN
    return clean(value) if isinstance(value, str) else value


def _joined(key: str, name: object) -> str:
    return f"{key}.{name}" if key else str(name)


def _values(value: Any, key: str) -> Iterator[str]:
    """The secrets of a nested setting: values of secret keys, and secrets within other values."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _values(item, _joined(key, name))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from _values(item, key)
    elif is_secret_key(key):
        yield str(value)
        yield from _contained(str(value))
    elif isinstance(value, str):
        yield from _contained(value)


def _contained(text: str) -> Iterator[str]:
    """The secrets within a text that is not a secret as a whole; a user and a password separately."""
    for start, end in _pair_spans(text):
        yield text[start:end]
    for match in _USER_INFO.finditer(text):
        user, _, password = match[1].partition(":")
        yield password
        if len(user) >= _TOKEN_LENGTH_MIN:
            yield user


def _argument_values(word: str) -> Iterator[str]:
    key, _, value = word.partition("=")
    if VARIABLE.fullmatch(value.strip("\"'")):
        return
    if is_secret_key(key):
        yield value
        yield value.strip("\"'")  # as TOML reads it
    yield from _argument_values(value) if key.startswith("--") else _contained(word)


def _worth_hiding(values: Iterable[str]) -> Iterator[str]:
    """Each value in the forms that it may take in a text; values of several lines also line by line."""
    for value in values:
        for line in (value, *value.splitlines()):
            for form in _forms(line.strip()):
                is_plain = form.lower() in _PLAIN_WORDS or _NUMBER.fullmatch(form)
                if len(form) >= _LENGTH_MIN and not is_plain and form not in HIDDEN:
                    yield form


def _forms(value: str) -> set[str]:
    """As it is, as JSON and Python write it, and as it appears in a URI."""
    encoded = value.encode(errors="surrogateescape")  # a command line may have bytes that are not UTF-8
    return {
        value, repr(value)[1:-1], json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1],
        unquote(value), quote(encoded), quote(encoded, safe=""), quote_plus(encoded),
    }  # fmt: skip


@lru_cache(maxsize=100)
def _pattern(literals: frozenset[str]) -> re.Pattern[str] | None:
    """Any of the literals, the longest first, since one may contain another."""
    longest_first = sorted(literals, key=lambda literal: (-len(literal), literal))
    return re.compile("|".join(map(re.escape, longest_first))) if longest_first else None


def _pair_spans(text: str) -> Iterator[tuple[int, int]]:
    """The positions of the values of secret keys in a text, without their quotes."""
    at = 0
    while key := _KEY.search(text, at):
        at = key.end()
        if is_secret_key(key[1]) and (value := _VALUE.match(text, at)):
            at = value.end()
            start, end = value.span()
            if value["bare"]:
                yield start, end
            elif end - start > len('""'):
                yield start + 1, end - 1
