"""
What a text is about, guessed from how it begins: `aliases("Aspen Hill (born 1980) is …", None)` → (("aspen hill", 1.0),).

A memory has several subject names, because people will refer to it in several ways: in full, without a middle name, by a nickname,
with its place. Each has a weight, so that a sure name counts more than a possible one.

*But:* names are recognised by their capitals, phrases in English only. The user is never a subject here: speakers are identified by
other means.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from memento.search.labels import normalise_label
from memento.text.words import STOP_WORDS, WORDS

Alias = tuple[str, float]

LONGEST = 600
"""Characters that are read: the first sentence has the subject, the next ones its other names."""
HEAD_WORDS = 9
"""Maximum number of words in a subject; a longer one is a clause."""
TITLED = 0.7
"""The weight of a guessed name beside a given title: the maximum, and the factor."""
UNSURE = 0.6
"""The weight of a name that only occurs near the subject: in parentheses, or in a statement about the user."""

# A name in running text: capitalised words, and the small words that join them.
_WORD = r"[^\W\d_a-zß-öø-ÿ](?:[\w'’\-–/]|\.(?=\w))*(?:(?<=\b[A-Z])\.|(?<=\b(?:Dr|Mr|Ms|St))\.|(?<=\bMrs)\.)?"
JOINTS = frozenset(re.findall(r"\S+", "of the de la le du von van der den del di da do dos & y e bin ibn al el"))
"""Small words inside names."""
_NAME = re.compile(rf"{_WORD}(?: (?:(?:{'|'.join(sorted(JOINTS))}) ){{0,2}}{_WORD})*")
_THE_NAME = re.compile(rf"(?:the )?{_NAME.pattern}")
_VERB = re.compile(
    r"\s(?:is|was|are|were|has|had|have|refers?|means|consists?|comprises|includes?|became|becomes|began|begins|served|serves"
    r"|took|takes|will|would|can|may|lives?|lived|works?|worked|plays?|played|likes?|loves?|owns?|wants?|moved|moves|went|made|uses?|used|prefers?"
    r"|told|tells|said|says|met|meets|gave|bought|founded|married|joined|visited|thinks|knows|studies|studied|hates?|needs?|started"
    r"|also|formerly|born|known|sometimes|aka|a\.k\.a\.|(?:best|better|commonly|professionally) known)\b"
)
_END = re.compile(r"(?<!\b[A-Z])(?<!\b(?:Dr|Mr|Ms|St|Jr|Sr|Lt|vs))(?<!\b(?:Mrs|Gen|Col|Rev|Maj|Sgt))\.\s|;")
_ASIDE = re.compile(r"\s*\(|\s*,(?=\s|$)|\s[–—]\s")
_TWO = re.compile(rf"({_NAME.pattern}) and ({_NAME.pattern})")
_ARTICLE = re.compile(r"(?:The|A|An)\s+(?=\S)")
_QUOTED = re.compile(r"[\"“]\s*+([^\"“”]{1,80}?)\s*+[\"”]")
_NICKNAME = re.compile(r"(?<!\s)\s*+[\"“'‘]\s*+([^\"“”'‘’]{1,30}?)\s*+[\"”'’]\s*+")
_PARENTHESIS = re.compile(r"[^().]{0,25}\(([^()]{1,160})")
_DATED = re.compile(r"(?<![\w-])\d{3,4}|\bborn\b|\bdied\b|\b[bdc]\.")
_KNOWN_AS = re.compile(
    r"\b(?:known|called|nicknamed|abbreviated|stylized|stylised|aka|a\.k\.a\.|formerly|credited|billed|renamed)\s+"
    r"(?:(?:simply|professionally|mostly|widely|variously|collectively|just|also|mononymously|by|his|her|its|the|stage|pen|ring|names?"
    r"|such)\s+)*(?:as\s+|to\s+)?['‘]?"
)
_ALSO = re.compile(r"\s*(?:,\s*(?:and|or)\s+|,\s*|\s+(?:and|or)\s+)(?:as\s+|simply\s+)?")
_RANK = re.compile(
    r"(?:\d+(?:st|nd|rd|th)\s+)?(?:Duke|Duchess|Earl|Count|Countess|Baron|Baroness|Viscount|Viscountess|Marquess|Marquis|Marchioness"
    r"|Prince|Princess|King|Queen|Lord|Lady|Margrave|Landgrave|Elector|Archduke|Archduchess|Grand|Abbess|Electress|Emperor|Empress)\b[^,(]{0,60}"
)
_HONORIFIC = re.compile(
    r"(?:(?:Sir|Dame|Lord|Lady|Dr|Prof|Professor|Prince|Princess|King|Queen|Saint|St|Rev|Reverend|Captain|Major|Gen"
    r"|General|Colonel|Lieutenant|Commander|Admiral|Vice|Rear|Brigadier|Sergeant|Pope|Sultan|Emperor|Empress|Count"
    r"|Countess|Baron|Archduke|Archduchess|Grand Duke|Mr|Mrs|Ms)[.\-]*\s+)+"
)
_PLACE = re.compile(
    r"\b(?:village|town|township|city|municipality|commune|community|district|suburb|neighbou?rhood|settlement|locality|hamlet|parish"
    r"|county|borough|place|area|river|lake|island|mountain|school|station|airport|street|building|college|church|hospital|region)\b"
    r"[^.,]{0,60}?\s(?:in|of|on)\s(?:the\s)?(?=[A-Z])"
)
_FARTHER = re.compile(r",\s*|\s+in\s+(?:the\s+)?(?:[a-z]+\s+){0,3}")
_PERSON = re.compile(
    r"\b(?:is|was|has been)\s+(?:\w+\s+)?(?:an?|the)\s+[^.]{0,60}?\b(?:act(?:or|ress)|singer|songwriter|rapper|musician"
    r"|composer|writer|author|poet|player|footballer|politician|lawyer|coach|director|producer|artist|painter|model"
    r"|journalist|scientist|professor|engineer|businessman|businesswoman|officer|soldier|cricketer|wrestler|boxer|driver"
    r"|comedian|daughter|son|wife|judge|nobleman|noblewoman|historian|philosopher|physicist|economist|entrepreneur"
    r"|activist|bishop|priest|athlete|swimmer|dancer|guitarist|drummer|pianist|character)\b"
)
_RENAMED = re.compile(r",\s(?:also|known|formerly|commonly|sometimes|often|or|abbreviated|officially|better|best)\b")
_SUFFIX = re.compile(r"(?:,?\s+(?:Jr|Sr|I{1,3}|IV|VI{0,3}|Esq|[A-Z]{3,5})\.?)+$")
_POSSESSIVE = re.compile(r"['’]s?$")
OPENERS = STOP_WORDS | WORDS["openers"]
"""Words that are not names by themselves but often open a sentence; not May, which may be a person."""
_WHOSE = re.compile(r"\b(?:user|i|my|we|our|he|she|they|his|her|their|it|its)\b", re.IGNORECASE)
_USER = re.compile(r"(?:[Tt]he )?(?:USER|[Uu]ser)\b")


def aliases(content: str, title: str | None) -> tuple[Alias, ...]:
    """
    Return the names by which users may refer to a text, normalised, each with its weight in 0..1, the surest first.

    A given title has weight 1, with and without a final remark in parentheses; guessed names then count less.

    >>> aliases("Thomas Allen \\"Tom\\" Coburn (born 1948) is an American politician.", None)
    (('tom coburn', 1.0), ('thomas allen coburn', 1.0), ('thomas coburn', 0.8), ('allen coburn', 0.5), ('thomas allen', 0.4))
    >>> aliases("Royston is a town in Hertfordshire, England.", None)
    (('royston', 1.0), ('royston england', 0.8), ('royston hertfordshire', 0.6))
    >>> aliases("USER works at Google.", None), aliases("Anna lives in Munich.", "Friends (2024)")
    ((('google', 0.6),), (('friends 2024', 1.0), ('friends', 1.0), ('anna', 0.49)))

    Source: the rules were written from the first sentences of encyclopaedia articles.
    """
    text = " ".join(unicodedata.normalize("NFKC", content[:LONGEST]).replace("``", '"').replace("''", '"').split())
    names = list(_guess_names(text))
    if title:
        bare = re.sub(r"(?<!\s)\s*+\([^()]*+\)\s*$", "", title)
        names = [(title, 1.0), (bare, 1.0), *((name, TITLED * min(weight, TITLED)) for name, weight in names)]
    return _best(names)


def _best(names: list[Alias]) -> tuple[Alias, ...]:
    """Return each name once, normalised, with its largest weight; labels that name nothing are left out."""
    best: dict[str, float] = {}
    for name, weight in names:
        label = normalise_label(name)
        if any(map(str.isalnum, label)) and label not in OPENERS:
            best[label] = max(best.get(label, 0.0), round(weight, 4))
    return tuple(sorted(best.items(), key=lambda alias: -alias[1]))


def _guess_names(text: str) -> Iterator[Alias]:
    head, rest = _head(text)
    if not head:
        yield from _fallback(text)
        return
    yield from _names_of(head, rest)
    yield from _beside(head, rest)


def _head(text: str) -> tuple[str, str]:
    """Return the first sentence's subject and the text after it; no subject where the sentence begins with something else."""
    quoted = _QUOTED.match(text)
    if quoted and not re.match(r"\s*[A-Z]", text[quoted.end() :]):
        return quoted[1], text[quoted.end() :]
    end = _END.search(text)
    sentence = text[: end.start()] if end else text
    cuts = [cut for cut in (_ASIDE.search(sentence), _VERB.search(sentence)) if cut]
    if not cuts or _USER.match(text):
        return "", text
    cut = min(cuts, key=lambda cut: cut.start())
    head, rest = text[: cut.start()], text[cut.start() :]
    said = cut.re is _VERB or "(" in cut[0] or _RENAMED.match(rest) is not None
    return (head, rest) if _is_subject(head.split(), said) else ("", text)


def _is_subject(words: list[str], said: bool) -> bool:
    """
    Return whether the first words of a sentence name its subject.

    Args:
        said: whether a verb or a parenthesis follows them, not a comma: words before a comma may be an adverbial.
    """
    if not 0 < len(words) <= HEAD_WORDS or words[-1] in JOINTS or words[-1].lower() in OPENERS:
        return False
    large = [word for word in words if not word[:1].islower()]
    small = [word for word in words if word[:1].islower() and word not in JOINTS and word not in OPENERS]
    first = words[0].strip("\"'“”‘’`").lower()
    if first in ("the", "a", "an"):
        return len(words) > 1 and (said or not small)
    if first in OPENERS:  # "When I Was a Boy is an album", not "When it rains"
        return said and len(large) > 1 and not small
    return words[0] in large and (said or not small)


def _fallback(text: str) -> Iterator[Alias]:
    """Yield the first name that does not merely open the sentence; after the user or a pronoun, the object of the action."""
    for found in _NAME.finditer(text):
        words = found[0].rstrip("-–/").split()
        while words and _POSSESSIVE.sub("", words[0].lower()) in OPENERS:
            words.pop(0)
        if words:
            weight = UNSURE if _WHOSE.search(text, 0, found.end() - len(" ".join(words))) else 1.0
            name = _POSSESSIVE.sub("", " ".join(words))
            yield from ((alias, weight * sure) for alias, sure in _names_of(name, ""))
            return


def _names_of(head: str, rest: str) -> Iterator[Alias]:
    """Yield a subject's name and its shorter forms."""
    nickname = _NICKNAME.search(head, 1)
    if nickname and nickname.end() < len(head):
        surname = _SUFFIX.sub("", head[nickname.end() :]).split()[-1:]
        yield " ".join([nickname[1], *surname]), 1.0
        head = f"{head[: nickname.start()]} {head[nickname.end() :]}"
    yield head, 1.0
    for separator in (" or ", ": "):  # "Adventure in Paradise or Tian tang qi yu", "Killer: Dead or Alive"
        if separator in head:
            yield from ((part, 0.8) for part in head.split(separator, 1))
    if two := _TWO.fullmatch(head):
        yield from ((part, UNSURE) for part in two.groups())
    if article := _ARTICLE.match(head):
        bare = head[article.end() :]
        yield bare, 1.0 if " " in bare else 0.5
        return
    honorific = _HONORIFIC.match(head)
    if honorific and honorific.end() < len(head):
        yield head[honorific.end() :], 0.8
    plain = _SUFFIX.sub("", head[honorific.end() :] if honorific else head)
    if plain != head:
        yield plain, 0.8
    parts = plain.split()
    if 3 <= len(parts) <= 6 and all(part[:1].isupper() for part in parts) and _is_person(rest):
        yield f"{parts[0]} {parts[-1]}", 0.8
        yield f"{parts[-2]} {parts[-1]}", 0.5
        yield f"{parts[0]} {parts[1]}", 0.4


def _is_person(rest: str) -> bool:
    first = _PARENTHESIS.match(rest)
    return bool((first and _DATED.search(first[1])) or _PERSON.search(rest[:250]))


def _beside(head: str, rest: str) -> Iterator[Alias]:
    """Yield the names that a text gives its subject after naming it."""
    bare = _ARTICLE.sub("", head, count=1)
    # Without parentheses, so that a birth date does not separate a name from its title.
    plain = re.sub(r"(?<!\s)\s*+\([^()]*+\)", "", rest)
    for rule in (_in_parenthesis, _known_as):
        yield from rule(rest[:300])
    for place, weight in (*_after_comma(plain), *_places(plain)):
        yield f"{bare} {place}", weight


def _in_parenthesis(rest: str) -> Iterator[Alias]:
    aside = _PARENTHESIS.match(rest)
    if aside and not _DATED.search(aside[1]):
        for name in _NAME.finditer(aside[1]):
            # "French: …" names a language, "M.D." a degree.
            if not re.match(r"\s*:", aside[1][name.end() :]) and "." not in name[0]:
                yield name[0], UNSURE


def _known_as(rest: str) -> Iterator[Alias]:
    for phrase in _KNOWN_AS.finditer(rest):
        at = phrase.end()
        while name := _QUOTED.match(rest, at) or _THE_NAME.match(rest, at):
            yield (name[1] if name.re is _QUOTED else name[0]), 0.8
            more = _ALSO.match(rest, name.end())
            if not more:
                break
            at = more.end()


def _after_comma(rest: str) -> Iterator[Alias]:
    """“X, Duke of Y” gives X Duke of Y; “X, Y is …” gives X in Y."""
    if not rest.startswith(","):
        return
    after = rest[1:].lstrip()
    if rank := _RANK.match(after):
        verb = _VERB.search(rank[0])
        yield (rank[0][: verb.start()] if verb else rank[0]), 1.0
    elif (
        (place := _NAME.match(after))
        and not place[0].isupper()
        and re.match(r",|\s(?:is|was|are|were)\b", after[place.end() :])
    ):
        yield place[0], 0.8


def _places(rest: str) -> Iterator[Alias]:
    """“is a village in Y, Z”: Y is nearer and vaguer; the others are what people add to tell it from places of the same name."""
    verb = re.match(r"[^.]{0,40}?\b(?:is|was)\s", rest)
    place = _PLACE.search(rest, verb.end(), verb.end() + 150) if verb else None
    at, weight = (place.end(), UNSURE) if place else (-1, 0.0)
    while at >= 0 and (name := _NAME.match(rest, at)):
        yield name[0].rstrip("."), weight
        more = _FARTHER.match(rest, name.end())
        at, weight = (more.end() if more else -1), 0.8
