"""
Remove secrets from texts before anything else is done with them: passwords, keys, tokens, card numbers.

`secrets.toml` describes what secrets look like; for some twenty providers the patterns of `detect-secrets` are used. A secret
becomes `[REDACTED:KIND]`; the text around it stays.

*Guarantees:* a text without a secret is returned as it is; redacting twice is the same as redacting once; no error and no count
contains a secret. Time grows only with the length of a text: every repetition in a pattern is bounded, or begins where no other
does.

*But:* a short password without any announcement looks like any other word. Hashes, UUIDs, IRIs and paths are kept, even if one of
them is used as a key and nothing says so.
"""

from __future__ import annotations

import json
import math
import re
import threading
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import structs

from memento import telemetry
from memento.datadir import replace_file
from memento.errors import InputError, SettingsError
from memento.graph.runs import pack_steps, unpack_steps
from memento.graph.store import rewrite_terms
from memento.iris import IRI, MEM
from memento.model import Scope
from memento.settings import RedactionSettings
from memento.text.tables import Row, entries, word_lists

T = TypeVar("T")
Check = Callable[[str, re.Match[str], int, int], bool]
"""Tells whether a match is a secret, given the text, the match, and where the value begins and ends."""

TABLE = Path(__file__).parent / "secrets.toml"

IDENTIFYING = frozenset(["idempotency_key", "session", "domain", "previous", "path", "old_path", "new_path", "turn"])
"""Fields that identify things: redaction could make two of them equal, so a secret in them is refused."""
VERBATIM = frozenset(
    [
        "namespace",
        "sparql",
        "file",
        "folder",
        "projects",
        "user_home",
        "form",
        "graph",
        "accept",
        "media",
        "default_graphs",
        "named_graphs",
        "using_graphs",
        "using_named_graphs",
    ]
)
"""Fields whose text is not stored: files, formats, graphs, and queries. What an update writes is redacted when it is written."""


class SecretRow(Row, frozen=True, kw_only=True):
    """A pattern for a kind of secret; `secrets.toml` describes the fields."""

    cues: tuple[str, ...]
    check: str
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret in a text: its kind, and where it begins and ends."""

    kind: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: str
    cues: frozenset[str]
    pattern: re.Pattern[str]
    is_folded: bool
    is_secret: Check


def find_secrets(
    text: str, *, entropy: bool = True, custom: Mapping[str, re.Pattern[str]] | None = None
) -> list[Secret]:
    """
    Find the secrets of a text, in order and without overlaps.

    Args:
        entropy: also find long random words.
        custom: additional patterns, by kind.

    >>> [one.kind for one in find_secrets("my password is hunter2 and AKIAIOSFODNN7EXAMPLE is the key")]
    ['PASSWORD', 'AWS_KEY']
    """
    found: list[Secret] = []
    if "\\" in text:  # a text inside a text, as in JSON: an escaped line break ends a word
        text = _ESCAPED.sub(lambda one: " " * (len(one[0]) - 1) + "\n", text)
    if custom:
        found += (Secret(kind, *one.span()) for kind, some in custom.items() for one in some.finditer(text) if one[0])
    lowered = _lower(text)
    if _is_suspect(text, lowered):
        present = {cue for cue in _all_cues() if cue in lowered}
        for rule in _rules():
            if (rule.cues and rule.cues.isdisjoint(present)) or (rule.kind == _ENTROPY and not entropy):
                continue
            for match in rule.pattern.finditer(lowered if rule.is_folded else text):
                begin, end = _find_value(match)
                if end > begin and rule.is_secret(text, match, begin, end):
                    kind = _BLOCK if rule.kind == _ENTROPY and end - begin >= _BLOCK_LENGTH else rule.kind
                    found.append(Secret(kind, begin, end))
        found += _find_by_plugins(text, lowered)
    return _merge(found) if found else found


_ESCAPED = re.compile(r"(?<!\\)\\++[nrt]")


def _lower(text: str) -> str:
    """Return a text in lower case with every character at the same position."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_ASCII_LOWER)


_ASCII_LOWER = {ord(sign): sign.lower() for sign in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_CUES = (
    *(
        "pass",
        "pwd",
        "kennwort",
        "secret",
        "token",
        "key",
        "credential",
        "bearer",
        "basic",
        "private",
        "pin",
        "cvv",
        "cvc",
    ),
    *("code", "pw ", "pw:", "://", "--", "puk", "geheimzahl", "combination", "contraseña", "mysql", "mariadb"),
    *("seed", "recovery", "mnemonic", "totp", "otp ", "2fa"),
)
_DIGITS = re.compile(r"\d(?:[ -]?\d){12}")
_LONG = 16


def _is_suspect(text: str, lowered: str) -> bool:
    """Tell cheaply whether there may be a secret at all: a word that announces one, a long word, or many digits."""
    return (
        any(cue in lowered for cue in _CUES)
        or any(len(word) >= _LONG for word in text.split())
        or _DIGITS.search(text) is not None
    )


def _find_value(match: re.Match[str]) -> tuple[int, int]:
    """Return the span of the secret in a match: its group, or the whole match."""
    groups = match.re.groupindex
    for name in ("secret", "double", "single"):
        if name in groups and match[name] is not None:
            begin = match.start(name)
            return begin, begin + len(match[name].rstrip(".,;:) \\"))
    return match.span()


def _merge(found: Iterable[Secret]) -> list[Secret]:
    """Merge overlapping secrets; the kind of the first one is kept."""
    merged: list[tuple[int, Secret]] = []
    for place, secret in sorted(enumerate(found), key=lambda one: (one[1].begin, one[0])):
        if merged and secret.begin < merged[-1][1].end:
            order, before = merged[-1]
            kind = before.kind if order < place else secret.kind
            merged[-1] = min(order, place), Secret(kind, before.begin, max(before.end, secret.end))
        else:
            merged.append((place, secret))
    return [secret for _, secret in merged]


_REFERENCE = re.compile(
    r"\$|[<{%(]|\[?REDACTED:|[*•.·x_-]+$|X+$|process\.env|os\.environ|get_?env|env\.|secrets\.|vault:|file:|op://|!",
    re.IGNORECASE,
)
_CHAIN = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+[\])};,]*")
_NAME = re.compile(r"[a-z]+(?:_[a-z]+)+[\])};,]*")
_END_OF_CLAUSE = re.compile(r"[\"'`”“»)\]]*(?:\s*$|[ \t]*[\n.!?;,])")
_ALONE = re.compile(r"[\w.'-]*[ \t]*(?:$|[\n;,}#])")


def _says_value(text: str, match: re.Match[str], begin: int, end: int) -> bool:
    """Tell whether something is a value and not a reference or placeholder."""
    value = text[begin:end]
    return not _REFERENCE.match(value) and value.lower().strip(".,;)") not in _words("stand_ins")


def _says_quoted(text: str, match: re.Match[str], begin: int, end: int) -> bool:
    """Tell whether a quoted value is neither a sentence nor a phrase that describes a password."""
    value = text[begin:end]
    words = value.lower().split()
    return (
        _says_value(text, match, begin, end)
        and len(words) <= 5
        and (len(words) < 2 or not _words("weak").issuperset(words))
        and value[0] not in "),;:"
        and not value.isspace()
    )


def _says_bare(text: str, match: re.Match[str], begin: int, end: int) -> bool:
    """Tell whether an unquoted value is neither code nor the beginning of a sentence."""
    value = text[begin:end]
    if not _says_value(text, match, begin, end) or any(sign in value for sign in "(["):
        return False
    if match[0].startswith("pwd") and value.startswith(("/", "~")):  # the working directory of a shell
        return False
    plain = value.strip(".,;:!?")
    if _CHAIN.fullmatch(plain) or _NAME.fullmatch(plain) or plain.lower() in _words("weak"):
        return False
    if plain.isalpha():
        return _ALONE.match(text, end) is not None and len(plain) > 3
    return len(plain) > 3 or not plain.isdigit()


def _says_random(text: str, match: re.Match[str], begin: int, end: int) -> bool:
    """Tell whether a value is one that no person would choose as a word."""
    value, after = text[begin:end].rstrip(".,;:!?"), text[end : end + 1]
    if not _says_value(text, match, begin, end) or after in ("(", "[") or value[:1] in "/~." or _CHAIN.fullmatch(value):
        return False
    has_digit = any(map(str.isdigit, value))
    return (has_digit and any(map(str.isalpha, value))) or (len(value) >= _LONG and not _is_wordy(value))


def _says_token(text: str, match: re.Match[str], begin: int, end: int) -> bool:
    """Tell whether a value contains a digit or is not made of words."""
    value = text[begin:end]
    return _says_value(text, match, begin, end) and (any(map(str.isdigit, value)) or not _is_wordy(value))


def _says_mixed(text: str, match: re.Match[str], begin: int, end: int) -> bool:
    """Tell whether a value mixes letters and digits and is no address."""
    value = text[begin:end]
    is_mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return is_mixed and _says_value(text, match, begin, end) and "://" not in value


def _says_variable(text: str, match: re.Match[str], begin: int, end: int) -> bool:
    """
    Tell whether the value of a variable is a secret.

    Unless its name says password, secret or credential, a number, a name or a short word such as a switch is none.
    """
    value = text[begin:end].rstrip(";,)")
    if not _says_value(text, match, begin, end) or any(sign in value for sign in "(["):
        return False
    if re.search(r"PASS|PWD|SECRET|CREDENTIAL", match["name"]):
        is_folder = match["name"].endswith("PWD") and value.startswith(("/", "~"))
        return len(value) > 2 and not is_folder and not _CHAIN.fullmatch(value)
    return (
        len(value) >= 6
        and not value.isdigit()
        and not _NAME.fullmatch(value)
        and not (value.replace("_", "").replace("-", "").isalpha() and len(value) < 12)
    )


def _says_prose(text: str, match: re.Match[str], begin: int, end: int) -> bool:
    """Tell whether a word after "the password is" is not one of the words that describe passwords."""
    value = text[begin:end].rstrip(".,;:!?)")
    if not _says_value(text, match, begin, end) or len(value) < 4 or value.lower() in _words("weak") or "(" in value:
        return False
    if not value.isalpha():
        return not re.fullmatch(r"[a-z]+(?:[-'’][a-z]+)+|\W+|\d{4}-\d\d-\d\d", value) or text[begin - 1] in "\"'`“"
    if text[begin - 1] in "\"'`“„«" or not (value.islower() or value.istitle()):
        return True
    return (
        len(value) > 4
        and _END_OF_CLAUSE.match(text, begin + len(value)) is not None
        and not value.endswith(("ed", "ing"))
    )


def _says_card(text: str, match: re.Match[str], begin: int, end: int) -> bool:
    """Tell whether a number has the prefix and the length of a card number and a valid checksum (ISO/IEC 7812)."""
    digits = [int(sign) for sign in match[0] if sign.isdigit()]
    number = "".join(map(str, digits))
    known = re.fullmatch(
        r"4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}"
        r"|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|(?:5018|5020|5038|6304|6759|676[1-3])\d{8,15}",
        number,
    )
    doubled = [digit * 2 - 9 * (digit > 4) if place % 2 else digit for place, digit in enumerate(reversed(digits))]
    return known is not None and sum(doubled) % 10 == 0


_DIGEST = re.compile(r"(?:0x)?[0-9a-fA-F-]+|\d[\d_/+-]*|sha\d+-.*|AAAA[BCE]3.*|bc1[0-9a-z]+")
_FILE = re.compile(r"iVBORw0KGgo|/9j/|R0lGOD|UklGR|JVBERi0")
"""The beginnings of pictures and PDF files in base64."""
_PUBLIC = re.compile(r"-----BEGIN (?![A-Z0-9 ]*PRIVATE)[A-Z0-9 ]{1,40}-----(?:(?!-----)[\s\S])*-----END")


def _says_entropy(text: str, match: re.Match[str], begin: int, end: int) -> bool:
    """Tell whether a long word looks random."""
    value = match[0].rstrip("=")
    if _DIGEST.fullmatch(value) or _FILE.match(value) or _begins_harmless(text, begin) or _is_reference(value):
        return False
    if _is_wordy(value, most=_wordy_share(value)):
        return False
    if end - begin < _BLOCK_LENGTH and _encodes_text(match[0]):
        return False
    kinds = [any(map(test, value)) for test in (str.isupper, str.islower, str.isdigit)]
    if sum(kinds) < 2 or not (kinds[2] or len(value) >= 32):
        return False
    changes = sum(_class_of(one) != _class_of(other) for one, other in pairwise(value))
    if changes < len(value) * (0.2 if all(kinds) else 0.3) or measure_entropy(value) < 3.5:
        return False
    return not ("-----BEGIN " in text and any(one.start() <= begin < one.end() for one in _PUBLIC.finditer(text)))


def _begins_harmless(text: str, at: int) -> bool:
    """Tell whether the word around a position is an IRI, or follows the announcement of a public key."""
    before = re.split(r"[\"'<>()\n]", text[max(0, at - 400) : at])[-1].rpartition(" ")
    return re.match(r"urn:|data:|spotify:|\S*://|h1:", before[2]) is not None or (
        not before[2] and re.search(r"(?:ssh-(?:rsa|ed25519|dss)|ecdsa-\S+)$", before[0]) is not None
    )


def _is_reference(value: str) -> bool:
    """Tell whether a word consists of short pieces, mostly of letters or digits only: a file name, a ticket number."""
    pieces = re.split(r"[-_/]", value)
    if len(pieces) < 3 or len(value) > _BLOCK_LENGTH or max(map(len, pieces)) > 12:
        return False
    pure = sum(len(one) for one in pieces if one.isdigit() or one.isupper() or one[1:].islower())
    return pure > 0.5 * len(value)


def _class_of(sign: str) -> int:
    return 0 if sign.islower() else 1 if sign.isupper() else 2 if sign.isdigit() else 3


def _is_wordy(value: str, most: float = 0.5) -> bool:
    """Tell whether more than a given share of a value consists of words."""
    return sum(map(len, re.findall(r"[A-Z][a-z]{2,}|[a-z]{3,}|[A-Z]{4,}", value))) > most * sum(map(str.isalnum, value))


def _wordy_share(value: str) -> float:
    """Return the share of a value that may look like words by chance; it decreases with the length."""
    return 0.5 if len(value) < 32 else 0.65 if len(value) < _BLOCK_LENGTH else 0.8


def _encodes_text(value: str) -> bool:
    """Tell whether a value is a base64-encoded text without a secret in it."""
    try:
        text = b64decode(value + "=" * (-len(value) % 4), altchars=b"-_", validate=True).decode("ascii")
    except ValueError:
        return False
    return text.isprintable() and not find_secrets(text)


def measure_entropy(text: str) -> float:
    """
    Return the Shannon entropy of the characters of a text, in bits per character.

    >>> measure_entropy("aabb"), measure_entropy("")
    (1.0, 0.0)
    """
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values()) + 0.0


_ENTROPY, _BLOCK, _BLOCK_LENGTH = "HIGH_ENTROPY", "BASE64_BLOCK", 50
_CHECKS: Mapping[str, Check] = {
    "any": lambda text, match, begin, end: not text.startswith("[REDACTED:", begin),
    "value": _says_value,
    "quoted": _says_quoted,
    "bare": _says_bare,
    "random": _says_random,
    "token": _says_token,
    "mixed": _says_mixed,
    "variable": _says_variable,
    "prose": _says_prose,
    "card": _says_card,
    "entropy": _says_entropy,
}


@cache
def _words(name: str) -> frozenset[str]:
    return word_lists(TABLE)[name]


@cache
def _all_cues() -> frozenset[str]:
    return frozenset[str]().union(*(rule.cues for rule in _rules()))


@cache
def _rules() -> tuple[_Rule, ...]:
    return tuple(
        _Rule(
            one.row.name.partition(".")[0], frozenset(one.row.cues), one.pattern, one.row.folded, _CHECKS[one.row.check]
        )
        for one in entries(TABLE, SecretRow, {})
    )


_PROVIDERS = (
    *(
        "akc",
        "gr1348941",
        "accountkey=",
        "cloudant",
        "softlayer",
        "ibm",
        "aws",
        "_authtoken",
        "pypi-",
        "sg.",
        "t3blbkfj",
    ),
    *("sq0csp-", "glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "glcbt-", "glimt-", "glptt-", "glagent-", "gloas-"),
)
_MARKED = re.compile(
    r"\b(?:AP[0-9A-F][A-Za-z0-9]{8}|(?:AC|SK)[a-z0-9]{32}|[MNO][\w-]{23,25}\.[\w-]{6}\.|\d{8,10}:[\w-]{35}|[0-9a-z]{32}-us\d)"
)
"""The beginnings of the formats of `detect-secrets`, which takes half a second to import: that happens when one is met."""
_LINE = 2_000
_OWN = frozenset(["Basic Auth Credentials", "Private Key", "JSON Web Token", "Public IP (ipv4)"])
"""Kinds that `secrets.toml` reads better, and one that is not secret."""
_KINDS = {"AWS Access Key": "AWS_KEY", "OpenAI Token": "API_KEY", "Twilio API Key": "API_KEY"}


def _find_by_plugins(text: str, lowered: str) -> Iterator[Secret]:
    """Search with the patterns of `detect-secrets`, line by line, because some of them are slow on long lines."""
    if not any(cue in lowered for cue in _PROVIDERS) and not _MARKED.search(
        " ".join(word for word in text.split() if len(word) >= _LONG)
    ):
        return
    for line in re.finditer(rf"[^\n]{{8,{_LINE}}}", text):
        for kind, pattern in _plugins():
            for match in pattern.finditer(line[0]):
                group = match.lastindex or 0
                # Some patterns have a group for the secret, others only for its prefix.
                begin, end = match.span(group if len(match[group] or "") >= 20 else 0)
                value = match[0]
                if any(map(str.isdigit, value)) and "REDACTED:" not in value:
                    yield Secret(kind, line.start() + begin, line.start() + end)


@cache
def _plugins() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the patterns of `detect-secrets` with the names of their kinds; none of them makes a network request."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    found: dict[str, Any] = get_mapping_from_secret_type_to_class()
    return tuple(
        (_KINDS.get(kind, re.sub(r"\W+", "_", kind).upper()), pattern)
        for kind, plugin in found.items()
        if kind not in _OWN
        for pattern in getattr(plugin, "denylist", ())
    )


def load_detectors() -> None:
    """Load every pattern, so that the first text takes no longer than the next one."""
    _rules(), _plugins()


def replace_secrets(text: str, secrets: Iterable[Secret], form: str = "[REDACTED:{}]") -> str:
    """
    Replace every secret by the name of its kind; a bare JSON value is replaced by a quoted one.

    >>> replace_secrets('{"pin": 4821}', [Secret("PIN", 8, 12)])
    '{"pin": "[REDACTED:PIN]"}'
    """
    pieces, at = list[str](), 0
    for one in secrets:
        before, mark = text[at : one.begin], form.format(one.kind)
        is_json = re.search(r'"\s*:\s*$', before[-40:]) and re.match(r"\s*[,}\n]", text[one.end : one.end + 20])
        pieces += [before, f'"{mark}"' if is_json else mark]
        at = one.end
    return "".join([*pieces, text[at:]])


_SECRET_FILE = re.compile(
    r"\.env(?:rc|\.(?!(?:example|sample|template|dist)$).*)?|.*\.env|.*credentials.*|.*\.(?:pem|key|p12|pfx|p8|jks|keystore|kdbx|ppk|asc|gpg|ovpn)"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|\.(?:netrc|pgpass|npmrc|pypirc|htpasswd|git-credentials|dockercfg|my\.cnf|vault-token)"
    r"|(?:.*[_.-])?secrets?\.(?:ya?ml|json|toml|ini|env|txt)|shadow|wallet\.dat|_netrc|\.?kubeconfig",
    re.IGNORECASE,
)


def raise_if_secret_file(path: Path | str) -> None:
    """
    Refuse a file whose name shows that it contains secrets: `.env`, private keys, credentials.

    Raises:
        InputError: names the file.

    >>> raise_if_secret_file("notes.md")
    >>> raise_if_secret_file("app/.env.local")
    Traceback (most recent call last):
    memento.errors.InputError: .env.local is not read: files of this name hold secrets; copy what is none into another file
    """
    name = Path(path).name
    if _SECRET_FILE.fullmatch(name):
        raise InputError(f"{name} is not read: files of this name hold secrets; copy what is none into another file")


def describe_counts(counts: Mapping[str, int]) -> str:
    """
    Say how many secrets of which kinds were removed from a text.

    >>> describe_counts({"PASSWORD": 2, "PIN": 1})
    '3 secrets were taken out of it: PASSWORD (2), PIN (1)'
    """
    many = sum(counts.values())
    kinds = ", ".join(f"{kind} ({count})" for kind, count in counts.items())
    return f"{many} secret{'s were' if many > 1 else ' was'} taken out of it: {kinds}"


class Redactor:
    """Redacts the input of one data folder, and counts what it finds. Several threads may use it."""

    def __init__(self, settings: RedactionSettings, counts: Path) -> None:
        """
        Args:
            counts: the file for the number of secrets of each kind in each namespace; it is created when there are some.

        Raises:
            SettingsError: a pattern is not valid.
        """
        self.settings = settings
        self._file, self._lock = counts, threading.Lock()
        given = json.loads(settings.patterns or "{}")
        self._custom = {
            re.sub(r"\W+", "_", kind).upper(): _compile(f"{kind} of [redaction.patterns]", text)
            for kind, text in given.items()
        }
        self._allowed = _compile("allow of [redaction]", settings.allow) if settings.allow else None
        self._refusing = frozenset(settings.refuse.replace(",", " ").split())
        self._counts: dict[str, Counter[str]] = {}
        with suppress(OSError, ValueError, TypeError, AttributeError):
            self._counts = {
                name: Counter(some) for name, some in json.loads(counts.read_text(encoding="utf-8")).items()
            }

    @property
    def is_on(self) -> bool:
        """Whether secrets are searched for."""
        return self.settings.mode != "off"

    def count_by_kind(self, scope: Scope) -> Mapping[str, int]:
        """Return the number of secrets of each kind that were found in a namespace since the folder was created."""
        with self._lock:
            return dict(sorted(self._counts.get(scope.graph, {}).items()))

    def find_secrets(self, text: str, *, entropy: bool = True) -> list[Secret]:
        """Find the secrets of a text, except those that the settings allow."""
        found = find_secrets(text, entropy=entropy and self.settings.entropy, custom=self._custom)
        if found and self._allowed:
            found = [one for one in found if not self._allowed.fullmatch(text, one.begin, one.end)]
        return found

    def refuses(self, scope: Scope) -> bool:
        """Tell whether a namespace refuses texts with secrets."""
        return self.settings.mode == "refuse" or scope.namespace in self._refusing

    def add(self, found: Mapping[str, int], scope: Scope) -> None:
        """Add to the counts, in the file too."""
        for kind, many in found.items():
            telemetry.count(f"redaction.{kind}", many)
        with self._lock:
            self._counts.setdefault(scope.graph, Counter()).update(found)
            with suppress(OSError):  # a full disk is no reason to store a secret
                replace_file(self._file, json.dumps(self._counts), sync=False)


def _compile(name: str, text: object) -> re.Pattern[str]:
    try:
        return re.compile(str(text))
    except re.error as error:
        raise SettingsError(f"{name} is no regular expression: {error}") from error


class Redaction:
    """The redaction of one call; `found` counts what was removed, by kind."""

    def __init__(self, redactor: Redactor, find_scope: Callable[[], Scope], *, is_question: bool = False) -> None:
        """
        Args:
            find_scope: returns the namespace that the text goes to; called once a secret is found.
            is_question: nothing of the text is stored, so it is never refused.
        """
        self._redactor, self._find_scope, self._is_question = redactor, find_scope, is_question
        self.found: Counter[str] = Counter()

    def redact(self, value: T, name: str = "") -> T:
        """
        Return a value with every text in it redacted; the same object if there is nothing to redact.

        Args:
            name: how errors call it.

        Raises:
            InputError: there is a secret, and the namespace refuses secrets or the field identifies something; names the kind and
                the position.
        """
        return self._walk(value, name) if self._redactor.is_on else value

    def redact_quads(self, lines: bytes) -> bytes:
        """Return N-Quads with their literals and IRIs redacted; raises as `redact`."""
        if not self._redactor.is_on:
            return lines
        return b"".join(map(self.redact_quad, lines.splitlines(keepends=True)))

    def redact_quad(self, line: bytes) -> bytes:
        """Return one line of N-Quads redacted; raises as `redact`. Compressed steps of a run are searched uncompressed."""
        if _PACKED in line and (packed := _LITERAL.search(line)) and (steps := unpack_steps(packed[1].decode())):
            redacted = self._walk(steps, "the steps of a run")
            return line if redacted is steps else line.replace(packed[1], pack_steps(redacted).encode())
        has_secret = any(sign in line for sign in _IRI_SIGNS) and _MARKED_IRI.search(line) is not None
        if not has_secret and (literal := _LITERAL.search(line)):
            has_secret = bool(self._redactor.find_secrets(literal[1].decode("utf-8", "replace")))
        if not has_secret:
            return line
        return rewrite_terms(line, self._redact_term)

    def _redact_term(self, text: str, name: str, is_iri: bool) -> str:
        form = "REDACTED:{}" if is_iri else "[REDACTED:{}]"  # an IRI cannot contain brackets
        return self._redact_text(text, name, entropy=not is_iri, form=form)

    def close(self, *, is_trial: bool = False) -> Mapping[str, int]:
        """Count what was found, unless this is a trial, and return it."""
        if self.found and not is_trial:
            self._redactor.add(self.found, self._find_scope())
        return dict(sorted(self.found.items()))

    def _walk(self, value: Any, name: str) -> Any:
        match value:
            case IRI():
                return IRI(self._redact_term(value, name, True)) if _MARKED_IRI.search(value.encode()) else value
            case str():
                return self._redact_text(value, name)
            case list() | tuple():
                new = [self._walk(one, f"{name}[{place}]") for place, one in enumerate(value, 1)]
                return value if all(map(_is_same, new, value)) else type(value)(new)
            case dict():
                pairs = {
                    self._walk(key, f"a key of {name}"): self._walk(one, f"{name}.…") for key, one in value.items()
                }
                return value if pairs == value else pairs
            case msgspec.Struct():
                changed = self._walk_fields(value, value.__struct_fields__, name)
                return structs.replace(value, **changed) if changed else value
            case _ if is_dataclass(value) and not isinstance(value, type):
                changed = self._walk_fields(value, _field_names(type(value)), name)
                return replace(value, **changed) if changed else value
        return value

    def _walk_fields(self, value: Any, names: Iterable[str], above: str) -> dict[str, Any]:
        changed = {}
        for name in names:
            if name in VERBATIM or (old := getattr(value, name)) is None:
                continue
            called = f"{above}.{name}" if above else name
            if name in IDENTIFYING and isinstance(old, str):
                if found := self._redactor.find_secrets(old, entropy=False):
                    raise self._explain_refusal(found[0], called, old, "it tells things apart: use another")
            elif not _is_same(new := self._walk(old, called), old):
                changed[name] = new
        return changed

    def _redact_text(self, text: str, name: str, *, entropy: bool = True, form: str = "[REDACTED:{}]") -> str:
        if not (found := self._redactor.find_secrets(text, entropy=entropy)):
            return text
        if not self._is_question and self._redactor.refuses(self._find_scope()):
            raise self._explain_refusal(found[0], name, text, "this namespace takes none (redaction.refuse)")
        self.found.update(one.kind for one in found)
        return replace_secrets(text, found, form)

    def _explain_refusal(self, secret: Secret, name: str, text: str, why: str) -> InputError:
        line = text.count("\n", 0, secret.begin) + 1
        column = secret.begin - text.rfind("\n", 0, secret.begin)
        return InputError(f"{name or 'the text'} holds a secret at line {line}, column {column}: {secret.kind}; {why}")


_MARKED_IRI = re.compile(
    rb"://[^/\s>]*@|A3T[A-Z0-9]|A[KS]IA[A-Z0-9]|gh[pousr]_|github_pat_|xox[a-z]-|hooks\.slack|AIza|eyJ|\bsk-|\bkey-|k_live_|(?i:token|secret|key|password|sig)="
)
"""Parts of an IRI that may be a secret."""
_PACKED = f"<{MEM.packed}>".encode()
_IRI_SIGNS = (b"@", b"KIA", b"SIA", b"A3T", b"_", b"xox", b"hooks.", b"AIza", b"eyJ", b"sk-", b"key-", b"=")
_LITERAL = re.compile(rb'"((?:[^"\\]|\\.)*)"(?!\^\^<http://www\.w3\.org/2001/XMLSchema#(?!string))')
"""The text of a literal that is neither a number nor a date."""


def _is_same(new: Any, old: Any) -> bool:
    return new is old


@cache
def _field_names(cls: type) -> tuple[str, ...]:
    return tuple(one.name for one in fields(cls))
