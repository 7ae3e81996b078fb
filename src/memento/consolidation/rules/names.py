"""
The things a note names, with their kinds: `mentions("I moved to Lisbon with Anna Smith", user)` → Lisbon, Anna Smith.

The user is never among them, nor are dates, roles, titles or words that merely open a sentence.

*But:* names are seen by their capitals; in lower case only well-known technologies and fields are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from memento.consolidation.agents import Mention
from memento.consolidation.rules.common import COMMON, LANGUAGES, NEVER, PEOPLES, RELATIVES
from memento.consolidation.rules.gazetteer import FIRST_NAMES, Known, lookup, plain_names
from memento.consolidation.rules.kinds import description, kind_of
from memento.consolidation.rules.lexicon import FUNCTION_WORDS
from memento.consolidation.rules.sentences import introduced, sentences
from memento.consolidation.rules.verbs import base_of
from memento.model import User

LONGEST = 60
"""Characters of a name; what is longer is a headline or shouting."""

_WORD = re.compile(
    r"\.NET\b|[^\W_]+(?:(?:[&'’+-]|\.(?=(?:js|io|py|net|ai|NET|com|[A-Z]\b)))(?=[^\W_])[^\W_]+)*(?:\+\+|#|\.(?=\s?[A-Z]\.))?"
)
_CONNECTORS = frozenset("of van von de da do dos del della di du la le der den ter ten al el bin y and".split())
_TITLE = re.compile(r"[\"“”]([A-Z][^\"“”]{2,60})[\"“”]")
_SELF = re.compile(
    r"(?:\bmy\s+(?:full\s+|first\s+)?name(?:['’]s|\s+is)(?:\s+now)?|\bcall\s+me|\bI\s+(?:am\s+called|go\s+by)|\bI['’]m\s+called)\s+((?-i:[A-Z][\w'’-]*(?:\s+[A-Z][\w'’-]*)*))",
    re.IGNORECASE,
)
_SELF_SHORT = re.compile(r"\bI(?:['’]m|\s+am)\s+([A-Z][\w'’-]+)(?=\s*(?:[,.!;]|$|and\b))")
_SPOKEN = re.compile(
    r"\b(?:learn|learns|learning|speak|speaks|speaking|study|studies|studying|fluent\s+in|language\s+is|tongue\s+is|teaches|teach)\s+(?:\w+\s+and\s+)?$",
    re.IGNORECASE,
)
_STUDIED = re.compile(
    r"\b(?:studied|studies|study|studying|learning|(?:degree|phd|master['’]?s|bachelor['’]?s|major(?:ed|ing)?|diploma|specialis\w+|specializ\w+|expert|expertise)\s+in|research\s+on)\s+([a-z][\w-]*(?:\s+[a-z][\w-]*){0,2})"
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word and where it stands in its sentence."""

    text: str
    start: int
    end: int


def normalised_name(name: str) -> str:
    """
    The name with a capital for each part that has none; parts with capitals stay as they are.

    Particles between capitals stay small.

    >>> [normalised_name(name) for name in ("machine learning", "AWS", "TypeScript", "jean-luc godard", "Bank of America")]
    ['Machine Learning', 'AWS', 'TypeScript', 'Jean-Luc Godard', 'Bank of America']
    """
    parts = re.split(r"([\s-]+)", " ".join(name.split()))
    particles = _CONNECTORS | {"the"} if parts[0][:1].isupper() and parts[-1][:1].isupper() else frozenset()
    return "".join(part[:1].upper() + part[1:] if part.islower() and part not in particles else part for part in parts)


def mentions(text: str, user: User) -> tuple[Mention, ...]:
    """
    What a note names, in order, each once; a first name alone is an alias of the one full name that begins with it.

    >>> from memento.vocabulary import user_iri
    >>> [(found.name, found.kind) for found in mentions("Anna Smith left Acme Labs. Anna uses vim.", User(iri=user_iri("a")))]
    [('Anna Smith', 'Person'), ('Acme Labs', 'Organization'), ('Vim', 'Technology')]
    """
    own = _own_names(text, user)
    elsewhere = _seen_inside(text)
    found: dict[str, Mention] = {}
    for sentence in sentences(text):
        body, _ = introduced(sentence)
        for mention in _in_sentence(body, elsewhere):
            if mention.name.lower() in own or len(mention.name) > LONGEST:
                continue
            key = mention.name.lower()
            found[key] = _merged(found[key], mention) if key in found else mention
    return _folded(list(found.values()))


def self_name(text: str) -> str | None:
    """
    The name that the writer gives as their own.

    >>> self_name("Hi, my name is Ana Silva."), self_name("I'm Priya, a product manager"), self_name("I'm Italian.")
    ('Ana Silva', 'Priya', None)
    """
    if match := _SELF.search(text):
        words = [word for word in match[1].split() if word.lower() not in NEVER]
        return " ".join(words).removesuffix("'s") or None
    match = _SELF_SHORT.search(text)
    return match[1] if match and match[1] in FIRST_NAMES else None


def _own_names(text: str, user: User) -> frozenset[str]:
    names = {"user"} | ({user.name.lower(), user.name.split()[0].lower()} if user.name and user.name.strip() else set())
    if own := self_name(text):
        names |= {own.lower(), own.split()[0].lower()}
    return frozenset(names)


def _seen_inside(text: str) -> frozenset[str]:
    """Capitalised words that stand inside a sentence somewhere: there the capital means a name."""
    return frozenset(re.findall(r"(?<=[a-z,] )[A-Z][\w-]+", text))


def _merged(old: Mention, new: Mention) -> Mention:
    kind = new.kind if old.kind == "Concept" else old.kind
    return replace(
        old,
        kind=kind,
        description=old.description or new.description,
        aliases=tuple(dict.fromkeys(old.aliases + new.aliases)),
    )


def _folded(found: list[Mention]) -> tuple[Mention, ...]:
    """Without the first names that stand for one full name of the same note."""
    full: dict[str, list[Mention]] = {}
    for mention in found:
        if (
            mention.kind in ("Person", "Concept")
            and " " in mention.name
            and mention.name.split()[0] in FIRST_NAMES | {"Ludwig"}
        ):
            full.setdefault(mention.name.split()[0].lower(), []).append(mention)
    alone = {
        mention.name.lower(): mention
        for mention in found
        if " " not in mention.name and mention.kind in ("Person", "Concept", "Location")
    }
    short = {name: alone[name].name for name, people in full.items() if len(people) == 1 and name in alone}
    return tuple(
        replace(mention, kind="Person", aliases=(*mention.aliases, short[first]))
        if (first := mention.name.split()[0].lower()) in short
        else mention
        for mention in found
        if mention.name.lower() not in short
    )


def _in_sentence(sentence: str, elsewhere: frozenset[str]) -> list[Mention]:
    found: list[tuple[int, Mention]] = []
    taken: list[tuple[int, int]] = []
    for match in _TITLE.finditer(sentence):
        if _is_title(match[1]):
            found.append((match.start(), _mention(sentence, match.start(1), match.end(1), None)))
            taken.append(match.span())
    tokens = [Token(match.group(), match.start(), match.end()) for match in _WORD.finditer(sentence)]
    shouted = _is_shouted(tokens)
    at = 0
    while at < len(tokens):
        size, known = (
            (0, None)
            if any(start <= tokens[at].start < end for start, end in taken)
            else _name_at(sentence, tokens, at, elsewhere, shouted)
        )
        if size:
            start, end = tokens[at].start, tokens[at + size - 1].end
            found.append((start, _mention(sentence, start, end, known)))
        at += max(size, 1)
    for match in _STUDIED.finditer(sentence):
        phrase = _field(match[1])
        if phrase and not any(mention.name.lower() in phrase for _, mention in found):
            found.append((match.start(1), Mention(name=normalised_name(phrase), kind="Concept")))
    return [mention for _, mention in sorted(found, key=lambda item: item[0])]


def _mention(sentence: str, start: int, end: int, known: Known | None) -> Mention:
    said = re.sub(r"['’]s?$", "", sentence[start:end]) if known is None else sentence[start:end]
    before, after = sentence[:start], sentence[start + len(said) : end + 80]
    name = normalised_name(known.name if known and known.name.lower() == said.lower() else said)
    kind = kind_of(before, name, after, known)
    what = known if known and known.kind == kind else None
    aliases = (known.name,) if what and known and known.name.lower() != name.lower() else ()
    if name.startswith("Project ") and kind == "Project":
        aliases = (name.removeprefix("Project "),)
    return Mention(
        name=name,
        kind=kind,
        description=description(before, name, after, what),
        is_well_known=known is not None and kind in (known.kind, "Organization"),
        aliases=aliases,
    )


def _name_at(
    sentence: str, tokens: list[Token], at: int, elsewhere: frozenset[str], shouted: bool
) -> tuple[int, Known | None]:
    """How many words from `at` are a name, and what is known of it."""
    known_size, known = _known_at(sentence, tokens, at)
    size = 0 if shouted else _capitals_from(sentence, tokens, at)
    if size > known_size:
        text = re.sub(r"['’]s?$", "", sentence[tokens[at].start : tokens[at + size - 1].end])
        known = lookup(text)
        if not at and size == 1 and known is None and not _is_name_at_start(sentence, tokens[0], elsewhere):
            return 0, None
        return size, known
    if (
        known is not None
        and not at
        and known_size == 1
        and not known.plain
        and not _is_name_at_start(sentence, tokens[0], elsewhere)
    ):
        return 0, None
    return known_size, known


def _known_at(sentence: str, tokens: list[Token], at: int) -> tuple[int, Known | None]:
    """The longest well-known name at a word; everyday words count only with a capital."""
    for size in range(min(3, len(tokens) - at), 0, -1):
        text = re.sub(r"['’]s$", "", sentence[tokens[at].start : tokens[at + size - 1].end])
        known = lookup(text) or lookup(sentence[tokens[at].start : tokens[at + size - 1].end])
        if known is None or (
            len(text) == 1
            and not re.search(r"\b(?:in|use|uses|using|learning|with|to|from)\s+$", sentence[: tokens[at].start])
        ):
            continue
        if text.lower() in plain_names() or (text[0].isupper() and text.lower() not in ("i", "us")) or text == "US":
            # "R&D", "C-level": a letter that goes on is no language.
            return size, known
    return 0, None


def _capitals_from(sentence: str, tokens: list[Token], at: int) -> int:
    """How many words from `at` belong to one capitalised name, particles included."""
    if not _is_capital(tokens[at].text) or _never(sentence, tokens, at):
        return 0
    size = 1
    while at + size < len(tokens):
        last, here = tokens[at + size - 1], tokens[at + size]
        gap = sentence[last.end : here.start]
        if re.search(r"['’]s?$", last.text) or not (gap in (" ", "-", " & ") or (gap == ". " and len(last.text) <= 2)):
            break
        if _is_capital(here.text) and not _never(sentence, tokens, at + size):
            size += 1
        elif re.fullmatch(r"20\d\d", here.text) and re.search(
            r"(?:con|conf|fest|summit|week|expo|conference)$", last.text.lower()
        ):
            return size + 1
        elif (reach := _past_particles(tokens, at + size)) and (
            here.text != "of" or tokens[at].text not in FIRST_NAMES
        ):
            size += reach
        else:
            break
    return size


def _past_particles(tokens: list[Token], at: int) -> int:
    """Words to step over from a particle to the capital behind it, that included: "of the Rings" is three; 0 when there is none."""
    if tokens[at].text not in _CONNECTORS - {"and"}:
        return 0
    for reach in (1, 2):
        if (
            at + reach < len(tokens)
            and _is_capital(tokens[at + reach].text)
            and tokens[at + reach].text.lower() not in NEVER
        ):
            return reach + 1
        if at + reach < len(tokens) and tokens[at + reach].text not in _CONNECTORS | {"the"}:
            return 0
    return 0


def _never(sentence: str, tokens: list[Token], at: int) -> bool:
    """Whether a capitalised word names nothing where it stands."""
    word = re.sub(r"['’](?:s|m|ve|ll|d|re)?$", "", tokens[at].text)
    lowered = word.lower()
    if lowered in PEOPLES:
        return not (lowered in LANGUAGES and _SPOKEN.search(sentence[: tokens[at].start]))
    if lowered in NEVER or len(word) == 1 and not tokens[at].text.endswith("."):
        return True
    first_of_more = at == 0 and word not in FIRST_NAMES
    return (
        first_of_more
        and (lowered in COMMON or base_of(word) is not None or lowered.endswith("ly"))
        and not _begins_a_known(sentence, tokens)
    )


def _begins_a_known(sentence: str, tokens: list[Token]) -> bool:
    return _known_at(sentence, tokens, 0)[0] > 1


def _is_name_at_start(sentence: str, token: Token, elsewhere: frozenset[str]) -> bool:
    """Whether the one capitalised word that opens a sentence is a name and not just its first word."""
    word = re.sub(r"['’]s?$", "", token.text)
    lowered = word.lower()
    if lowered in FUNCTION_WORDS or "'" in word or "’" in word:
        return False
    if word in FIRST_NAMES or word in elsewhere or any(letter.isupper() for letter in word[1:]):
        return True
    if (
        lowered in COMMON
        or lowered in RELATIVES
        or base_of(word)
        or re.search(r"(?:ly|ing|ed|tion|ment|ness)$", lowered)
    ):
        return False
    after = sentence[token.end :]
    if lookup(word) is not None:
        return True
    return word != token.text or bool(
        re.match(r",?\s+(?:and|is|was|has|will|can|had|does|did|works?|lives?|\w+ed|\w+s|I|my)\b", after)
    )


def _is_capital(word: str) -> bool:
    return any(letter.isupper() for letter in word)


def _is_shouted(tokens: list[Token]) -> bool:
    capitals = sum(token.text.isupper() and len(token.text) > 1 for token in tokens)
    return capitals > 3 and capitals > 0.6 * len(tokens)


def _is_title(text: str) -> bool:
    """Whether quoted words are a title and not speech: every word that counts has its capital, and no sentence ends inside."""
    words = text.split()
    return (
        len(words) <= 7
        and not text.endswith((".", "!", "?", ","))
        and all(word[0].isupper() or word.lower() in FUNCTION_WORDS or word[0].isdigit() for word in words)
        and any(word.lower() not in NEVER for word in words)
    )


def _field(phrase: str) -> str:
    """The field of study in what follows "studying": up to the first word that cannot belong to it."""
    words: list[str] = []
    for word in phrase.split():
        if (
            word in FUNCTION_WORDS
            or word in COMMON
            or word in LANGUAGES
            or word in ("how", "new", "lot", "abroad")
            or (words and word.endswith("ing"))
        ):
            break
        words.append(word)
    return " ".join(words) if len(" ".join(words)) > 3 else ""
