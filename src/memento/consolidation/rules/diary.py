"""
What a hurried writer leaves out: "Flying to Oslo" is "I'm flying to Oslo", "new boss: Kiran" is "my new boss is Kiran".

*But:* only where the first word can begin no whole sentence; what has a subject of its own stays as it is.
"""

from __future__ import annotations

import re

from memento.consolidation.rules.patterns import EVENTS
from memento.consolidation.rules.relations import is_single
from memento.text.tables import word_set
from memento.text.words import (
    BASES,
    DETERMINERS,
    MODALS,
    NUMBER_WORDS,
    PREPOSITIONS,
    PRONOUNS,
    base_of,
    is_adverb,
    is_past,
)

_GOING = word_set(
    "went moved flew drove travelled traveled walked talked spoke listened came switched got ran returned relocated"
    " cycled hiked sailed"
)
_AM = re.compile(
    r"^(?:(?:now|still|currently|so+|very|really|super|finally|officially"
    r"|also)\s+)?(?:back\s+(?:home\s+)?(?:at|in|from|to|with|on)|allergic|vegan"
    r"|vegetarian|pescatarian|married|engaged|single|divorced"
    r"|pregnant|off\s+to|done\s+with|fluent|born|based|afraid|obsessed"
    r"|addicted|excited|worried|responsible|not\s+\w+ing)\b(?!\s*[:?])",
    re.IGNORECASE,
)
_OWN_THING = re.compile(
    r"^[A-Za-z-]+\s+(?:(?:has\s+)?(?:moved|went|gone|changed|been)\s+(?:up\s+|down\s+|back\s+|moved\s+|changed\s+)?to"
    r"|is\s+(?:now\s+)?(?:at|on|[$€£]?\d)"
    r"|went\s+(?:up|down)|(?:was|got)\s+(?:moved|changed|raised|cut|set))\b"
)
_BEEN = re.compile(r"^(?:(?:just|also)\s+)?been\s+(?!there\b)", re.IGNORECASE)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|isn['’]t|wasn['’]t|makes?|made|takes?|took|helps?|helped|keeps?|feels?|felt|seems?)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"^(?:my\s+|our\s+)?(?P<attr>(?:new|current|favou?rite|main|next"
    r"|latest)\s+(?:[a-z-]+\s+){0,2}?[a-z-]+|(?:[a-z-]+\s+)?[a-z-]+)"
    r"(?P<when>\s+(?:since|from|as\s+of)\s+[\w\s]{3,20}?)?\s*(?::|\s[–—-]\s|=)\s*(?P<value>\S.{0,60})$",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"^(?:the\s+|my\s+|our\s+)?(?P<what>(?:[a-z-]+\s+)?[a-z-]+)\s+(?:went"
    r"|has\s+gone|got|has|was|is|rose|fell|increased|changed|moved|goes)\b",
    re.IGNORECASE,
)
_IT_IS = re.compile(
    r"^(?:(?:and|but|so)\s+)?(?:now\s+)?it['’]?s?\s*(?:is|are)?\s+(?:now\s+)?(?=(?:[$€£~]\s?)?\d)", re.IGNORECASE
)
_CHANGED_MY = re.compile(
    r"^(?:I\s+)?(?:changed|switched|updated|renamed)\s+(?:my|our|the)\s+(?P<what>(?:[a-z-]+\s+){0,2}[a-z-]+)$",
    re.IGNORECASE,
)
_PARTS = re.compile(
    r",\s+(?:and\s+|then\s+|but\s+)?|\s+and\s+(?=(?:then\s+)?(?:promoted"
    r"|moved|joined|started|left|quit|bought|adopted|became)\s)"
)
_NOUNS = word_set(
    "notes note update reminder todo question ps fyi btw correction people places things plan plans list items agenda"
)


def with_subject(piece: str) -> str:
    """
    The clause with the "I" or "my" that a diary leaves out.

    >>> with_subject("Started at Acme"), with_subject("Flying to Oslo on Friday"), with_subject("Running is fun")
    ('I started at Acme', "I'm flying to Oslo on Friday", 'Running is fun')
    >>> with_subject("new boss: Kiran"), with_subject("turned 42 yesterday"), with_subject("Back at Etsy since May")
    ('my new boss is Kiran', 'I turned 42 yesterday', "I'm back at Etsy since May")
    """
    first, _, rest = piece.partition(" ")
    while rest and is_adverb(first) and first.lower() not in ("no", "not", "instead", "either", "even", "now"):
        first, _, rest = rest.partition(" ")
        if not (is_past(first) or first.lower().endswith("ing")):
            break
        piece = f"{first} {rest}"
    if not rest or not first.isalpha():
        return piece
    lowered = first.lower()
    behind = rest.split()[0]
    a_verb = base_of(lowered) or behind.lower() in PREPOSITIONS | DETERMINERS or behind[0].isupper()
    if is_past(lowered) and a_verb and lowered not in ("been", "born", "gone", "done", "used"):
        passive = rest.startswith("by ") or (rest.startswith("to ") and lowered not in _GOING)
        return piece if passive or _labelled(piece) else f"I {lowered} {rest}"
    if re.match(r"last\s+day\s+(?:at|with)\s", piece, re.IGNORECASE):
        return f"my {lowered} {rest}"
    if _OWN_THING.match(piece) and (is_single(lowered) or re.fullmatch(EVENTS, lowered)):
        return f"my {lowered} {rest}"
    if _AM.search(piece):
        return f"I'm {lowered} {rest}"
    if match := _BEEN.match(piece):
        return f"I've been {piece[match.end() :]}"
    if (
        lowered.endswith("ing")
        and base_of(lowered)
        and not _FINITE.search(_main(rest))
        and lowered not in ("according", "including", "during")
    ):
        return f"I'm {lowered} {rest}"
    return _labelled(piece) or piece


def shared_verbs(clause: str) -> list[str]:
    """
    The statements of a subject with several verbs between commas.

    >>> shared_verbs("I live in Trieste, work at Generali, and have two kids")
    ['I live in Trieste', 'I work at Generali', 'I have two kids']
    >>> shared_verbs("I like tea, work and walks")
    ['I like tea, work and walks']
    """
    match = re.match(
        r"^((?:so\s+|well\s+)?(?P<s>I|We|[A-Z][\w-]*(?:\s[A-Z][\w-]*)?)\s+(?:[a-z]+ly\s+"
        r"|just\s+|also\s+|then\s+)?)(?P<v>[a-z]+)\s",
        clause,
        re.ASCII,
    )
    if match is None or re.search(r"\b(?:if|that|because|when|which|who|whether)\b", clause, re.IGNORECASE):
        return [clause]
    form = _form(match["v"])
    pieces: list[str] = []
    for part in _PARTS.split(clause):
        if not pieces:
            pieces.append(part)
        elif form and _begins_like(part, form):
            pieces.append(f"{match['s']} {part}")
        else:
            pieces[-1] = f"{pieces[-1]}, {part}"
    return pieces if len(pieces) > 1 else [clause]


def _begins_like(part: str, form: str) -> bool:
    """Whether a part begins with a verb of the same form and something only a verb has behind it."""
    words = [word for word in part.split()[:5] if not is_adverb(word)]
    if len(words) < 2 or _form(words[0]) != form:
        return False
    after = words[1]
    return (
        form == "past"
        or after.lower() in PREPOSITIONS | DETERMINERS | PRONOUNS
        or after[0].isupper()
        or after[0].isdigit()
        or after in NUMBER_WORDS
    )


def of_the_same(piece: str, before: str) -> str:
    """
    The clause with what "it" stands for, where the clause before it speaks of one measured thing.

    >>> of_the_same("it's 980 euros now", "Rent went up")
    'my rent is 980 euros now'
    >>> of_the_same("it's late", "Rent went up")
    "it's late"
    """
    match, about = _IT_IS.match(piece), _ABOUT.match(before)
    if match and about and is_single(about["what"].lower()):
        return f"my {about['what'].lower()} is {piece[match.end() :]}"
    return piece


def _form(verb: str) -> str:
    """ "past", "base" or "s": verbs that share a subject have one form."""
    if is_past(verb):
        return "past"
    if verb in BASES or verb in ("am", "have"):
        return "base"
    return "s" if base_of(verb) and verb.endswith("s") else ""


def _main(rest: str) -> str:
    """The words of a clause before a comma or a conjunction."""
    return re.split(r"[,;]|\b(?:because|since|and|but|so|when|that|who|which)\b", rest, maxsplit=1)[0]


def _labelled(piece: str) -> str:
    """ "Rent: 900 euros" as a sentence about the user, or "" """
    match = _LABEL.match(piece)
    if match is None or match["attr"].lower() in _NOUNS or match["attr"].lower().split()[-1] in MODALS:
        return ""
    if not is_single(match["attr"].lower().removeprefix("next ").removeprefix("latest ")):
        return ""
    value = match["value"].rstrip(".!") if match["when"] else match["value"]
    return f"my {match['attr'].lower()} is {value}{match['when'] or ''}"
