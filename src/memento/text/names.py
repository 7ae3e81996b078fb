"""
Find the things that a note names, with their kinds: `mentions("I moved to Lisbon with Anna Smith", user)` → Lisbon, Anna Smith.

Names are runs of capitalised words with their particles, well-known names even in lower case, and uncapitalised words ("met priya
in bangalore") right after words that a name follows. The user, dates, roles and titles are never among them.

*But:* a capital at the beginning of a sentence proves nothing; the first word is a name only if something else shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from memento.model import EntityKind, User
from memento.text.claims import words as words_of
from memento.text.kinds import Known, description, is_short_form, kind_by_context, kind_of, lookup, plain_names
from memento.text.sentences import introduced, is_readable, prose, split_read
from memento.text.spelling import likeness
from memento.text.tables import LEXICON, alternatives, named_patterns, word_set
from memento.text.words import (
    COMMON,
    FIRST_NAMES,
    FUNCTION_WORDS,
    JOBS,
    LANGUAGES,
    MODALS,
    NEVER,
    PEOPLES,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVES,
    WEEKDAYS,
    WORDS,
    base_of,
    is_past,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """
    Something that a note names, before it is known whether the graph has it; `aliases` are other names that the note uses for it.
    """

    name: str
    kind: EntityKind
    description: str = ""
    is_well_known: bool = False
    aliases: tuple[str, ...] = ()


_AUXILIARIES = word_set("is was has had will does did can is's isn't hasn't won't and who")
LONGEST_NAME = 60
"""The longest name, in characters; anything longer is a headline or shouting."""

_TITLE = re.compile(r"[\"“”]([A-Z][^\"“”]{2,60})[\"“”]")

_TAKEN_OUT = re.compile(r"\[REDACTED:\w+\]")
"""The placeholder of a redacted secret: it names nobody and nothing."""


@cache
def signs() -> Mapping[str, re.Pattern[str]]:
    """Return the signs for names, by their names in the table."""
    fragments = {"RELATIVE": alternatives(RELATIVES), "JOB": alternatives(JOBS)}
    return named_patterns(LEXICON / "names.toml", fragments, flags=re.IGNORECASE)


def normalised_name(name: str) -> str:
    """
    Return a name with a capital for each part that has none; parts with capitals stay as they are.

    Particles between capitals stay in lower case.

    >>> [normalised_name(name) for name in ("machine learning", "AWS", "TypeScript", "jean-luc godard", "Bank of America")]
    ['Machine Learning', 'AWS', 'TypeScript', 'Jean-Luc Godard', 'Bank of America']
    """
    parts = re.split(r"([\s-]+)", " ".join(name.split()))
    particles = WORDS["name_particles"] | {"the"} if parts[0][:1].isupper() and parts[-1][:1].isupper() else frozenset()
    return "".join(part[:1].upper() + part[1:] if part.islower() and part not in particles else part for part in parts)


def mentions(text: str, user: User) -> tuple[Mention, ...]:
    """
    Return what a note names, in order, each once; a first name alone is an alias of the one full name that begins with it.

    >>> from memento.iris import user_iri
    >>> found = mentions("Anna Smith left Acme Labs. Anna uses vim.", User(iri=user_iri("a")))
    >>> [(mention.name, mention.kind) for mention in found]
    [('Anna Smith', 'Person'), ('Acme Labs', 'Organization'), ('Vim', 'Technology')]
    """
    text, _ = split_read(text)
    said = [sentence for sentence in prose(text) if is_readable(sentence)]
    own = _own_names(said, user)
    elsewhere = _seen_inside(text)
    found: dict[str, Mention] = {}
    for sentence in said:
        body, _ = introduced(sentence)
        for mention in _in_sentence(body, elsewhere):
            if (
                mention.name.lower() in own
                or len(mention.name) > LONGEST_NAME
                or signs()["holiday"].search(mention.name)
            ):
                continue
            key = mention.name.lower()
            found[key] = _merge_mentions(found[key], mention) if key in found else mention
    return _with_short_forms(_drop_first_names(list(found.values())))


def self_name(text: str) -> str | None:
    """
    Return the name that the writer gives as their own.

    >>> self_name("Hi, my name is Ana Silva."), self_name("I'm Priya, a product manager"), self_name("I'm Italian.")
    ('Ana Silva', 'Priya', None)
    >>> self_name("I am Ana Silva and I sing"), self_name("Priya here, hello!"), self_name("I'm with Priya.")
    ('Ana Silva', 'Priya', None)
    """
    if match := signs()["own-name"].search(text):
        words = [word for word in match[1].split() if word.lower() not in NEVER]
        return " ".join(words).removesuffix("'s") or None
    match = signs()["own-first-name"].search(text) or signs()["signs-off"].search(text)
    return match[1] if match and match[1].split()[0] in FIRST_NAMES else None


def _own_names(said: list[str], user: User) -> frozenset[str]:
    names = {"user"} | ({user.name.lower(), user.name.split()[0].lower()} if user.name and user.name.strip() else set())
    for own in filter(None, map(self_name, said)):
        names |= {own.lower(), own.split()[0].lower()}
    return frozenset(names)


def _seen_inside(text: str) -> frozenset[str]:
    """Return the capitalised words inside sentences, where a capital marks a name."""
    return frozenset(re.findall(r"(?<=[a-z,] )[A-Z][\w-]+", text))


def _merge_mentions(old: Mention, new: Mention) -> Mention:
    kind = new.kind if old.kind == "Concept" else old.kind
    return replace(
        old,
        kind=kind,
        description=old.description or new.description,
        aliases=tuple(dict.fromkeys(old.aliases + new.aliases)),
    )


def _drop_first_names(found: list[Mention]) -> tuple[Mention, ...]:
    """Remove the first names that stand for one full name of the same note."""
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


def _with_short_forms(found: tuple[Mention, ...]) -> tuple[Mention, ...]:
    """Merge the short forms of a name into it: "Brandt Logistics" is also called "Brandt"."""
    long: dict[str, list[Mention]] = {}
    for mention in found:
        for other in found:
            if mention.kind in (other.kind, "Concept") and is_short_form(mention.name, other.name, other.kind):
                long.setdefault(mention.name, []).append(other)
    short = {names[0].name: name for name, names in long.items() if len(names) == 1}
    return tuple(
        replace(mention, aliases=(*mention.aliases, short[mention.name])) if mention.name in short else mention
        for mention in found
        if mention.name not in short.values()
    )


def _in_sentence(sentence: str, elsewhere: frozenset[str]) -> list[Mention]:
    found: list[tuple[int, int, Mention]] = []
    taken: list[tuple[int, int]] = []
    taken += (match.span() for match in _TAKEN_OUT.finditer(sentence))
    for match in _TITLE.finditer(sentence):
        if _is_title(match[1]):
            found.append((match.start(), match.end(), _mention(sentence, match.start(1), match.end(1), None)))
            taken.append(match.span())
    fields = {
        match.span(1): phrase
        for match in (*signs()["studied"].finditer(sentence), *signs()["field"].finditer(sentence))
        if (phrase := _field(match[1]))
    }
    for start, end, known in found_names(sentence, elsewhere, taken):
        in_field = any(begin <= start and end <= begin + len(phrase) for (begin, _), phrase in fields.items())
        field_word = (
            known is not None and known.kind == "Concept" and (in_field or signs()["job-next"].match(sentence[end:]))
        )
        if not field_word:
            found.append((start, end, _mention(sentence, start, end, known)))
    for (begin, _), phrase in fields.items():
        if not any(mention.name.lower() in phrase or phrase in mention.name.lower() for _, _, mention in found):
            known = lookup(phrase)
            name = normalised_name(known.name if known else phrase)
            found.append(
                (begin, begin + len(phrase), Mention(name=name, kind="Concept", is_well_known=known is not None))
            )
    found = _one_practice(sentence, sorted(found, key=lambda item: item[0]))
    return _side_by_side(sentence, _without_misspelt(sentence, found))


def _one_practice(sentence: str, found: list[tuple[int, int, Mention]]) -> list[tuple[int, int, Mention]]:
    """Join a name right before a well-known field with it, because it is a kind of it: "Vipassana meditation"."""
    joined = found[:1]
    for item in found[1:]:
        start, end, before = joined[-1]
        field = sentence[item[0] : item[1]]
        if item[2].kind == before.kind == "Concept" and field.islower() and sentence[end : item[0]] == " ":
            joined[-1] = (start, item[1], replace(before, name=f"{before.name} {field}"))
        else:
            joined.append(item)
    return joined


def _without_misspelt(sentence: str, found: list[tuple[int, int, Mention]]) -> list[tuple[int, int, Mention]]:
    """Remove the wrong spelling after a name: "Tamsin Brady, not Brody"."""
    kept = found[:1]
    for before, item in pairwise(found):
        one, other = before[2].name.split()[-1], item[2].name.split()[-1]
        corrected = " " in before[2].name and signs()["misspelt"].fullmatch(sentence[before[1] : item[0]])
        if not (corrected and likeness(one, other) >= 0.6):
            kept.append(item)
    return kept


def _side_by_side(sentence: str, found: list[tuple[int, int, Mention]]) -> list[Mention]:
    """Return the mentions; an unknown one gets the kind of its neighbours in a list: "Nino and Bice", "Kotlin, Ktor"."""
    mentions = [mention for _, _, mention in found]
    for order in (range(1, len(found)), range(len(found) - 2, -1, -1)):
        for at in order:
            other = at - 1 if order.step > 0 else at + 1
            first, last = min(at, other), max(at, other)
            gap = sentence[found[first][1] : found[last][0]]
            if gap in (" to ", " with ", " for ") and signs()["exchanged"].search(sentence[: found[first][0]]):
                if mentions[other].is_well_known and not mentions[at].is_well_known:
                    mentions[at] = replace(mentions[at], kind=mentions[other].kind)
                continue
            if (
                mentions[at].kind == "Concept"
                and not mentions[at].is_well_known
                and signs()["listed"].fullmatch(gap)
                and mentions[other].kind != "Event"
            ):
                mentions[at] = replace(mentions[at], kind=mentions[other].kind)
    return mentions


def _mention(sentence: str, start: int, end: int, known: Known | None) -> Mention:
    full = sentence[start:end]
    said = full if known is not None and lookup(full) is known else re.sub(r"['’]s?$", "", full)
    before, after = sentence[max(0, start - 80) : start], sentence[start + len(said) : end + 80]
    name = normalised_name(known.name if known and known.name.lower() == said.lower() else said)
    kind = kind_of(before, name, after, known)
    what = known if known and known.kind == kind else None
    aliases = (known.name,) if what and known and known.name.lower() != name.lower() else ()
    if (
        kind == "Concept"
        and known is None
        and (head := signs()["concept-head"].match(after))
        and not lookup(head.group().strip())
    ):
        name += head.group()
    if kind == "Person" and (title := signs()["titled"].search(before)) and title[1][0].isupper():
        aliases = (*aliases, f"{title[1]} {name}")
    if name.startswith("Project ") and kind == "Project":
        aliases = (name.removeprefix("Project "),)
    return Mention(
        name=name,
        kind=kind,
        description=description(before, name, after, what),
        is_well_known=known is not None and kind in (known.kind, "Organization"),
        aliases=aliases,
    )


def _is_title(text: str) -> bool:
    """Tell whether quoted words are a title and not speech: every significant word has a capital, and no sentence ends inside."""
    words = text.split()
    return (
        len(words) <= 7
        and not text.endswith((".", "!", "?", ","))
        and all(word[0].isupper() or word.lower() in FUNCTION_WORDS or word[0].isdigit() for word in words)
        and any(word.lower() not in NEVER for word in words)
    )


def _field(phrase: str) -> str:
    """Return the field of study in what follows "studying", up to the first word that cannot belong to it."""
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
    return " ".join(words) if len(" ".join(words)) > 2 else ""


_WORD = re.compile(
    r"\.NET\b|[^\W_]+(?:(?:[&'’+-]|\.(?=(?:js|io|py|net|ai|NET|com|[A-Z]\b)))(?=[^\W_])[^\W_]+)*(?:\+\+|#"
    r"|\.(?=\s?[A-Z]\.))?"
)
_OWNED = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True)
class Token:
    """A word and its position in its sentence."""

    text: str
    start: int
    end: int


def found_names(
    sentence: str, elsewhere: frozenset[str], taken: list[tuple[int, int]]
) -> Iterator[tuple[int, int, Known | None]]:
    """
    Yield (start, end, what is known of it) for each name outside the spans in `taken`.

    Args:
        elsewhere: words that have a capital inside sentences of the text.

    >>> [span[:2] for span in found_names("Yesterday Anna Smith used vim", frozenset(), [])]
    [(10, 20), (26, 29)]
    """
    tokens = [Token(match.group(), match.start(), match.end()) for match in _WORD.finditer(sentence)]
    shouted = _is_shouted(tokens)
    at = 0
    while at < len(tokens):
        size, known = 0, None
        if not any(start <= tokens[at].start < end for start, end in taken) and not _in_address(sentence, tokens[at]):
            size, known = _name_at(sentence, tokens, at, elsewhere, shouted)
            if not size and tokens[at].text.islower():
                token = tokens[at]
                word = _OWNED.sub("", token.text)
                found, known = name_in_lower_case(
                    sentence[max(0, token.start - 60) : token.start], word, sentence[token.end : token.end + 30]
                )
                size = int(found)
        if size:
            yield tokens[at].start, tokens[at + size - 1].end, known
        at += max(size, 1)


def _name_at(
    sentence: str, tokens: list[Token], at: int, elsewhere: frozenset[str], shouted: bool
) -> tuple[int, Known | None]:
    """Return how many words from `at` are a name, and what is known of it."""
    known_size, known = _known_at(sentence, tokens, at)
    size = 0 if shouted else _capitals_from(sentence, tokens, at)
    if size > known_size:
        text = re.sub(r"['’]s?$", "", sentence[tokens[at].start : tokens[at + size - 1].end])
        known = lookup(text)
        if (
            size == 1
            and known is None
            and (_is_common(tokens[at]) if at else not _is_name_at_start(sentence, tokens[0], elsewhere))
        ):
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


def _is_common(token: Token) -> bool:
    """Tell whether a single capitalised word is an everyday one, as in "Head of Data"; a capital inside it makes it a name."""
    return token.text.lower() in COMMON and token.text[1:].islower() and token.text not in FIRST_NAMES


def _known_at(sentence: str, tokens: list[Token], at: int) -> tuple[int, Known | None]:
    """Return the longest well-known name at a word; everyday words count only with a capital."""
    for size in range(min(3, len(tokens) - at), 0, -1):
        full = sentence[tokens[at].start : tokens[at + size - 1].end]
        text = full[:-2] if full.endswith(("'s", "’s")) else full
        known = lookup(text) or (lookup(full) if text is not full else None)
        if known is None or (
            len(text) == 1
            and not signs()["a-letter-follows"].search(sentence[max(0, tokens[at].start - 80) : tokens[at].start])
        ):
            continue
        if text.lower() in plain_names() or (text[0].isupper() and text.lower() not in ("i", "us")) or text == "US":
            # "R&D", "C-level": a letter that is part of a longer word is no programming language.
            return size, known
    return 0, None


def _capitals_from(sentence: str, tokens: list[Token], at: int) -> int:
    """Return how many words from `at` belong to one capitalised name, including particles."""
    if not _is_capital(tokens[at].text) or _never(sentence, tokens, at):
        return 0
    size = 1
    while at + size < len(tokens):
        last, here = tokens[at + size - 1], tokens[at + size]
        gap = sentence[last.end : here.start]
        if (re.search(r"['’]s?$", last.text) and here.text not in WORDS["institutions"]) or not (
            gap in (" ", "-", " & ") or (gap == ". " and len(last.text) <= 2)
        ):
            break
        if _is_capital(here.text) and not _never(sentence, tokens, at + size):
            size += 1
        elif (
            (re.fullmatch(r"20\d\d", here.text) and signs()["event-ending"].search(last.text.lower()))
            or (re.fullmatch(r"20\d\d", here.text) and signs()["attended"].search(sentence[: tokens[at].start]))
            or (size < 3 and _is_model_number(sentence, tokens, at, size))
        ):
            return size + 1
        elif here.text == "of" and last.text.lower() in words_of("posts_of_duty"):
            return size - 1  # "the Premier of Norland" is an office
        elif (reach := _past_particles(tokens, at + size)) and (
            here.text != "of" or tokens[at].text not in FIRST_NAMES
        ):
            size += reach
        else:
            break
    return 0 if size == 1 and _is_of_a_title(sentence, tokens, at) else size


def _is_of_a_title(sentence: str, tokens: list[Token], at: int) -> bool:
    """Tell whether a capitalised word is only part of a job title: "a Financial Analyst"."""
    if at + 1 >= len(tokens):
        return False
    head = tokens[at + 1]
    if tokens[at].text.lower() in WORDS["ranks"] and head.text.lower() in WORDS["titles"]:
        return True  # "the Prime Minister"
    if at == 0 or tokens[at - 1].text.lower() not in ("a", "an", "as", "my", "our", "new"):
        return False
    return head.text[0].isupper() and head.text.lower() in JOBS and sentence[tokens[at].end : head.start] == " "


def _is_model_number(sentence: str, tokens: list[Token], at: int, size: int) -> bool:
    """Tell whether a number after a name belongs to it: "Fairphone 5", but not "Anna 3 times" and not "Python 3"."""
    here, last = tokens[at + size], tokens[at + size - 1]
    if not re.fullmatch(r"\d{1,2}", here.text) or sentence[last.end : here.start] != " " or last.text in FIRST_NAMES:
        return False
    return lookup(last.text) is None and bool(signs()["number-ends"].match(sentence[here.end :]))


def _past_particles(tokens: list[Token], at: int) -> int:
    """Count the words from a particle to the capital after it, inclusive: "of the Rings" is three; 0 if there is none."""
    if tokens[at].text not in WORDS["name_particles"]:
        return 0
    for reach in (1, 2):
        if (
            at + reach < len(tokens)
            and _is_capital(tokens[at + reach].text)
            and tokens[at + reach].text.lower() not in NEVER
        ):
            return reach + 1
        if at + reach < len(tokens) and tokens[at + reach].text not in WORDS["name_particles"] | {"the"}:
            return 0
    return 0


def _never(sentence: str, tokens: list[Token], at: int) -> bool:
    """Tell whether a capitalised word names nothing in its position."""
    word = signs()["contracted"].sub("", tokens[at].text)
    lowered = word.lower()
    if lowered in PEOPLES:
        taught = lowered in LANGUAGES and signs()["taught"].match(sentence[tokens[at].end :])
        return not (
            taught
            or (
                lowered in LANGUAGES
                and signs()["spoken"].search(sentence[max(0, tokens[at].start - 80) : tokens[at].start])
            )
        )
    shouted = word.isupper() and len(word) > 2 and (lowered in COMMON or base_of(word) is not None or is_past(word))
    if signs()["denied-verb"].search(lowered) or _begins_again(sentence, tokens, at):
        return True
    goes_on = at > 0 and _is_capital(tokens[at - 1].text) and not tokens[at - 1].text.isupper()
    if (shouted and not goes_on) or re.search(r"(\w)\1\1", lowered) or signs()["level"].fullmatch(word):
        return True
    if (
        lowered in WEEKDAYS
        and at
        and tokens[at - 1].text == "the"
        and at + 1 < len(tokens)
        and _is_capital(tokens[at + 1].text)
    ):
        return False
    if lowered == "saint" and at + 1 < len(tokens) and _is_capital(tokens[at + 1].text):
        return False
    if lowered in NEVER or (len(word) == 1 and not tokens[at].text.endswith(".")):
        return True
    if at or word in FIRST_NAMES or (lowered == "project" and len(tokens) > 1 and _is_capital(tokens[1].text)):
        return False
    is_word = lowered in COMMON or base_of(word) is not None or is_past(word) or lowered.endswith("ly")
    return is_word and _known_at(sentence, tokens, 0)[0] <= 1


def _begins_again(sentence: str, tokens: list[Token], at: int) -> bool:
    """Tell whether a capitalised verb starts a new sentence after a comma or a quote: "sounds great, See you"."""
    if not at or at + 1 >= len(tokens) or base_of(tokens[at].text) is None:
        return False
    behind = tokens[at + 1].text
    starts = sentence[tokens[at - 1].end : tokens[at].start].strip() in (",", '"', "“", "-", "–", "—", ":")
    return starts and behind.islower() and (behind in PRONOUNS or behind in PREPOSITIONS or behind == "go")


def _is_name_at_start(sentence: str, token: Token, elsewhere: frozenset[str]) -> bool:
    """Tell whether the single capitalised word at the start of a sentence is a name."""
    word = re.sub(r"['’]s?$", "", token.text)
    lowered = word.lower()
    if lowered in FUNCTION_WORDS or "'" in word or "’" in word:
        return False
    if word in FIRST_NAMES and (lowered in WORDS["not_in_lower_case"] or base_of(word)):  # "Hope is a good thing"
        after = sentence[token.end :]
        return word in elsewhere or after.startswith(",") or kind_by_context("", word, after) == "Person"
    if word in FIRST_NAMES or word in elsewhere or any(letter.isupper() for letter in word[1:]):
        return True
    if lowered in NEVER:
        return False
    if lowered in COMMON or lowered in RELATIVES or base_of(word) or signs()["common-ending"].search(lowered):
        return False
    after = sentence[token.end :]
    if lookup(word) is not None or signs()["festival"].search(word):
        return True
    if signs()["from-somewhere"].match(after):
        return True
    following = re.match(r"\s+([a-z'’]+)", after)
    if following and is_past(following[1]) and not is_past(word):
        return True
    return word != token.text or bool(signs()["verb-next"].match(after))


def _is_capital(word: str) -> bool:
    """Tell whether a word has the capital of a name; "3rd", "10GB" and identifiers such as "appendChild" do not."""
    return (
        not word.islower()
        and not re.match(r"[a-z]{2,}[A-Z]", word)
        and any(letter.isupper() for letter in word)
        and not signs()["number-unit"].match(word)
    )


def _in_address(sentence: str, token: Token) -> bool:
    """Tell whether a word is part of an e-mail address or a handle."""
    return sentence[token.end : token.end + 1] == "@" or sentence[max(0, token.start - 1) : token.start] == "@"


def _is_shouted(tokens: list[Token]) -> bool:
    capitals = sum(token.text.isupper() and len(token.text) > 1 for token in tokens)
    return capitals > 3 and capitals > 0.6 * len(tokens)


def name_in_lower_case(before: str, word: str, after: str) -> tuple[bool, Known | None]:
    """
    Tell whether a word in lower case is a name in its position, and what is known of it.

    >>> [name_in_lower_case("we moved to ", word, "")[0] for word in ("bangalore", "nice")]
    [True, False]
    >>> name_in_lower_case("my friend ", "carlos", " lent me a tent")
    (True, None)
    """
    if word in FUNCTION_WORDS or word in NEVER - PEOPLES or word in PEOPLES or word in RELATIVES:
        return False, None
    known = lookup(word)
    if known is None and word.capitalize() not in FIRST_NAMES and not _may_name(before):
        return False, None
    if known is not None and not known.everyday and _cue(known).search(before):
        return True, known
    if (
        known is not None
        and known.kind == "Technology"
        and signs()["a-tool-follows"].search(before)
        and word not in COMMON
        and not base_of(word)
        and len(word) > 2
    ):
        return True, known
    if known is None and signs()["works-at"].search(before):
        return word.isalpha() and len(word) > 2 and word not in COMMON and not base_of(word) and not is_past(word), None
    return _is_person(before, word, after), None


def _may_name(before: str) -> bool:
    """Tell whether the last word announces an unknown name. It is called for nearly every word, so it uses no pattern."""
    last = before.rsplit(maxsplit=1)[-1].lower() if before.strip() else ""
    return (
        last in RELATIVES or signs()["works-at"].search(before) is not None
        if last in ("at", "for")
        else last in RELATIVES or last in ("called", "named", "is", "name's", "name’s")
    )


def _cue(known: Known) -> re.Pattern[str]:
    return {"Location": signs()["a-place-follows"], "Organization": signs()["a-firm-follows"]}.get(
        known.kind, signs()["a-tool-follows"]
    )


def _is_person(before: str, word: str, after: str) -> bool:
    if (
        not word.isalpha()
        or len(word) < 2
        or word in WORDS["not_in_lower_case"]
        or word in COMMON
        or base_of(word)
        or is_past(word)
    ):
        return False
    if signs()["called"].search(before) and len(word) > 2:
        return not after.lstrip().startswith(("by", "for", "off", "in"))
    following = match.group().lower() if (match := re.match(r"\s*([\w'’]+)", after)) else ""
    following = following.strip()
    verbal = following in _AUXILIARIES or following in MODALS or bool(base_of(following)) or is_past(following)
    if word.capitalize() in FIRST_NAMES:
        if verbal and signs()["a-clause-begins"].search(before):
            return True
        return bool(signs()["a-person-follows"].search(before)) or (not before.strip() and verbal)
    ends = word.endswith(("ly", "ing", "ed", "s", "ness", "tion", "er"))
    return bool(signs()["kin-follows"].search(before)) and verbal and not ends and len(word) > 2
