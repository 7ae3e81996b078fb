"""
Sentences and clauses of a note, each one statement, without the words that only introduce it.

*But:* a clause is cut off only where a new subject and verb begin; whatever is in doubt stays together.
"""

from __future__ import annotations

import re

from memento.consolidation.rules.lexicon import word_set
from memento.consolidation.rules.verbs import base_of, is_past

LONGEST_READ = 2_000
"""Characters of a sentence, or of a memory, that rules read; what is longer stays as it was said."""

_BLANKS = re.compile(r"\s{9,}")
_ABBREVIATIONS = word_set(
    "mr mrs ms dr prof st jr sr vs etc e.g i.e eg ie approx no inc ltd corp co dept fig vol u.s u.k a.m p.m rev "
    "gen sen gov mt"
)
_LONGEST_ABBREVIATION = 40  # with what may stand before it
_END = re.compile(r"(?<=[.!?…。！？])[\"'”’)\]]*\s+(?!\[)|\n+")
_BULLET = re.compile(r"^\s*(?:(?:•|(?:[-*–]|\d{1,2}[.)]|#{1,6})(?=\s))\s*|[-*•–]+\s*$)+")

_PREFIX = re.compile(
    r"""^(?:
        (?:please\s+)?(?:remember|note|keep\s+in\s+mind|bear\s+in\s+mind|be\s+aware|don['’]?t\s+forget|take\s+note
            |remind\s+me)
            (?:\s+(?:that|this)\b[:,]?|\s*[:,])(?!\s+to\b)
      | (?:please\s+)?(?:remember|note|save|store|memori[sz]e)(?:\s+(?:this|that))?\s*[:,]
      | (?:please\s+)?remember\s+(?=(?:i|i['’]m|i['’]ve|my|we|our)\b)
      | note\s+to\s+(?:self|myself)\b\s*[:,–-]*
      | (?:fyi|btw|ps|p\.s\.|by\s+the\s+way|for\s+the\s+record|just\s+so\s+you\s+know|for\s+your\s+information
      |reminder|update|so|well
          |hey|hi|hello|ok|okay|yes|yeah|yep|no|nope|anyway|oh|wow|hmm|good\s+news|news|quick\s+note
          |today['’]s\s+note|one\s+more\s+thing)
            \b\s*(?:[:,!–]|-\s|\.\s)\s*
      | (?:i\s+want|i['’]d\s+like)\s+you\s+to\s+(?:know|remember|note)\s+(?:that\b)?
      | (?:and|but)\s+(?=(?:i|we|my|our)\b)
    )\s*""",
    re.IGNORECASE | re.VERBOSE,
)
_FRAMING = re.compile(
    r"^(?:please\s+)?(?:remember|note|take\s+note|save|store|memori[sz]e|keep\s+in\s+mind|bear\s+in\s+mind|don['’]?t\s+forget)"
    r"(?:\s+(?:this|that|it|these|the\s+following))*(?:\s+please)?\W*$",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"""^(?:
        (?:small\s+|quick\s+)?(?:correction|corrected|fix|erratum|edit)(?:\s+to\s+[\w\s]{1,30}?)?\s*[:,–-]+
      | (?:sorry|oops|apologies|scratch\s+that|no\s+wait|wait|my\s+mistake|my\s+bad)\s*[,:.!–-]+
      | (?:sorry,?\s+|oops,?\s+|no,?\s+)?(?:wrong|typo|mix-?up)(?:\s+(?:in\s+)?\w+)?\s*[,:;.–-]+
      | (?:sorry,?\s+)?(?:(?:it\s+)?turns\s+out\s+)?i\s+(?:mis(?:remembered|read|heard|typed
        |spelt|spelled|took|understood)|mixed\s+up\s+\w+
        |got\s+(?:the|my)\s+\w+\s+wrong|was\s+(?:wrong|mistaken)\s+about\s+(?:\w+\s+){0,3}?\w+|gave\s+the\s+wrong\s+\w+)
        (?:\s+(?:it|that|earlier|yesterday))?\s*[,:;.–-]+
      | (?:actually|in\s+fact)(?:\s*,|\s+(?=(?:it|that)['’]?s?\s))
      | (?:sorry,?\s+)?(?:i\s+(?:got\s+(?:it|that)\s+wrong|had\s+(?:it|that)\s+wrong|was\s+mistaken|mixed\s+(?:it
        |that|them)\s+up|meant|mean|misspoke|made\s+a\s+mistake|was\s+wrong)|that\s+was\s+wrong
      |that['’]s\s+wrong|to\s+correct\s+myself)
            (?:\s+(?:to\s+say|that|earlier|before))?\s*[,:.;–-]*
    )\s*""",
    re.IGNORECASE | re.VERBOSE,
)
_SUBJECT = (
    r"(?:mum|mom|dad|mother|father|grandma|grandpa|I|I['’](?:m|ve|d"
    r"|ll)|im|ive|we|we['’](?:re|ve|ll)|he|she|they|it|(?:he|she|it"
    r"|that|there)['’](?:s|ll|d)|they['’](?:re|ve|ll)|my|our|his|her|their|the|there|(?-i:[A-Z][\w'’-]*))"
)
_TIME = (
    r"(?:(?:on|in|at|since|from|as\s+of|by|last|this|next|every)\s+(?:[\w'’.]+\s+){1,3}?"
    r"|yesterday\s+|today\s+|tomorrow\s+|[\w]+\s+(?:days?|weeks?|months?|years?)\s+ago\s+)"
)
_JOINT = re.compile(
    r"\s*;\s*|\s*(?:,?\s+(?:and|but|while|whereas|though|although|yet|so)(?=\s)|\s[–—]\s|:\s"
    rf"|,)\s*(?=(?:now\s+|these\s+days\s+|nowadays\s+|then\s+|currently\s+|honestly\s+|luckily\s+"
    rf"|sadly\s+|fortunately\s+|unfortunately\s+|finally\s+|{_TIME},?\s*)?{_SUBJECT}\s)"
    r"|(?<=\w)\s+(?=(?:she|he|they)['’](?:s|re)\s+\w+ing\b)|,?\s+(?=btw\s)",
    re.IGNORECASE,
)
_SCOPED = re.compile(
    r"""\b(?:if|unless|whether|because|when|whenever|that|said|says|told|thinks?|thought|believes?|hopes?|wish|which|who|until
        |(?:since|as|after|before|once)\s+(?:I|we|he|she|they|my|our))\b""",
    re.IGNORECASE | re.VERBOSE,
)
_NAMES_IT = re.compile(r"(?:his|her|its|their)\s+name(?:['’]s|\s+is)\b", re.IGNORECASE)
_VERBAL = re.compile(r"\b(?:I['’]m|I['’]ve|[\w'’]+)\b")
_CONTRACTED = re.compile(
    r"\b\w+['’](?:m|ve|re|d|ll)\b|\b(?:ca|wo|is|are|was|were|do|does|did|have|has|had)n['’]t\b|\b(?:he|she|it"
    r"|that|there)['’]s\b",
    re.I,
)


def is_readable(text: str) -> bool:
    """
    Tell whether rules may read a text: their patterns take a bounded time on what is no longer than this.

    *Because:* here is where every text enters: a note sentence by sentence, a memory whole.

    >>> is_readable("USER lives in Oslo."), is_readable("x" * 2001), is_readable("a" + " " * 9)
    (True, False, False)
    """
    return len(text) <= LONGEST_READ and not _BLANKS.search(text)


def shorten_blanks(text: str) -> str:
    """
    Make one of many blanks, or one line break where a line ends among them: nobody means anything by so many.

    >>> shorten_blanks("a" + " " * 100 + "b" + " " * 9 + "\\n" * 9 + "c")
    'a b\\nc'
    """
    return _BLANKS.sub(lambda run: "\n" if "\n" in run[0] else " ", text)


def sentences(text: str) -> list[str]:
    """
    The sentences of a text, trimmed; abbreviations and initials do not end one. Which of them can be read `is_readable` tells.

    >>> sentences("I met Dr. Ruiz. She works at St. Mary's! - Second\\n* third")
    ['I met Dr. Ruiz.', "She works at St. Mary's!", 'Second', 'third']
    """
    text = shorten_blanks(text)
    found: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if "\n" not in end.group() and _is_abbreviation(
            text[max(start, end.start() - _LONGEST_ABBREVIATION) : end.start()]
        ):
            continue
        found.append(text[start : end.end()])
        start = end.end()
    found.append(text[start:])
    return [trimmed for piece in found if (trimmed := _BULLET.sub("", piece).strip())]


def introduced(sentence: str) -> tuple[str, bool]:
    """
    The sentence without "Remember that", "FYI", "Correction:" and the like, and whether it corrects something.

    >>> introduced("Please remember that my dog is a beagle.")
    ('my dog is a beagle.', False)
    >>> introduced("Correction: the launch is on June 1.")
    ('the launch is on June 1.', True)
    """
    corrects = False
    for _ in range(4):
        without = _PREFIX.sub("", sentence, count=1)
        if match := _CORRECTION.match(without):
            corrects, without = True, without[match.end() :]
        if without == sentence or not without.strip():
            break
        sentence = without
    return sentence, corrects


def is_framing(sentence: str) -> bool:
    """
    Whether a sentence only announces what follows.

    >>> is_framing("Please note:"), is_framing("Remember this."), is_framing("Remember to feed Rex.")
    (True, True, False)
    """
    return bool(_FRAMING.match(sentence))


def clauses(sentence: str) -> list[str]:
    """
    The statements of a sentence that stand side by side, without the words that join them.

    >>> clauses("I live in Berlin and I work at Acme, but my wife works in Potsdam.")
    ['I live in Berlin', 'I work at Acme', 'my wife works in Potsdam.']
    >>> clauses("Anna and I like tea; if I move, I will sell it")
    ['Anna and I like tea', 'if I move, I will sell it']
    """
    pieces: list[str] = []
    start = 0
    for joint in _JOINT.finditer(sentence):
        left, right = sentence[start : joint.start()], sentence[joint.end() :]
        hard = joint.group().strip() == ";"
        if _NAMES_IT.match(right):
            continue
        if hard or (not _SCOPED.search(left) and _has_verb(left) and _has_verb(_first_words(right)) and _closed(left)):
            pieces.append(left)
            start = joint.end()
    return [piece.strip() for piece in (*pieces, sentence[start:]) if piece.strip()]


def _is_abbreviation(text: str) -> bool:
    if not text.endswith("."):
        return False
    last = text.split()[-1].rstrip(".").lower().lstrip("(\"'")
    return last in _ABBREVIATIONS or (len(last) == 1 and last.isalpha() and last != "i")


def _first_words(text: str) -> str:
    """Enough of a clause to hold its subject and verb."""
    return " ".join(re.split(r"[,;]| (?:and|but) ", text, maxsplit=1)[0].split()[:9])


def _has_verb(text: str) -> bool:
    if _CONTRACTED.search(text):
        return True
    words = _VERBAL.findall(text)
    return any(
        (base_of(word) or is_past(word)) and not _is_noun(words, index) and not (index and _is_gerund(words, index))
        for index, word in enumerate(words)
    )


def _is_gerund(words: list[str], index: int) -> bool:
    """Whether an "-ing" has no form of "be" before it: "SQL learning" is a noun, "she is learning" a verb."""
    return words[index].endswith("ing") and words[index - 1].lower() not in (
        "am",
        "is",
        "are",
        "was",
        "were",
        "been",
        "be",
        "also",
        "now",
        "still",
        "just",
    )


def _is_noun(words: list[str], index: int) -> bool:
    """Whether a word that may be a verb stands where a noun stands: first, or after an article or a possessive."""
    before = words[index - 1].lower() if index else ""
    return (index == 0 and not is_past(words[0])) or before in (
        "a",
        "an",
        "the",
        "my",
        "our",
        "his",
        "her",
        "their",
        "of",
        "to",
        "for",
        "in",
        "at",
        "on",
        "with",
    )


def _closed(text: str) -> bool:
    """Whether quotes and brackets that open in a text also close in it."""
    return text.count('"') % 2 == 0 and text.count("(") == text.count(")") and text.count("“") == text.count("”")
