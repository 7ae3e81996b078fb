"""
Sentences and clauses of a note, each one statement, without the words that only introduce it.

*But:* a clause is cut off only where a new subject and verb begin; whatever is in doubt stays together.
"""

from __future__ import annotations

import re

from memento.text.words import FUNCTION_WORDS, base_of, is_past, word_set

_TITLES = word_set(
    "mr mrs ms mx dr prof st fr rev gen sen gov sgt lt capt col hon sr sra srta d dª dña da dom mme mlle mgr herr frau "
    "ing dipl hr fru"
)
"""Abbreviations that stand before a name."""
_ABBREVIATIONS = word_set(
    "jr vs etc e.g i.e eg ie approx appr ca inc ltd corp co cf al no nr nos fig vol pp p ed eds dept u.s u.k a.m p.m am pm "
    "mt min max avg est incl excl ext tel mob min. sq ft in oz lb bldg rd blvd ave apt apr jan feb aug sept oct nov dec "
    "tbc tbd resp bzw z.b d.h usw w/o viz seq op"
)
"""Abbreviations that stand before a figure or in the middle of a sentence."""
_END = re.compile(r"(?<=[.!?…。！？])[\"'”’)\]]*\s+(?!\[)|(?<=[。！？])(?=\S)|\n+")
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


_SHORT = word_set(
    "car bus cat dog day year week time home work mum dad mom son wife boss job flat city town rent tea milk food gym code "
    "data bug team shop club band film book song tool lab ok fine good bad nice sad late soon ill sick done new old "
    "big red blue hat bag bed box cup key map pen sun sea run fun hot cold wet dry man men boy girl kid kids baby it me "
    "him her us them you one two six ten all too well far near yes no hi out off in on up so go do me we he she they"
)


def sentences(text: str) -> list[str]:
    """
    The sentences of a text, trimmed; abbreviations and initials do not end one.

    >>> sentences("I met Dr. Ruiz. She works at St. Mary's! - Second\\n* third")
    ['I met Dr. Ruiz.', "She works at St. Mary's!", 'Second', 'third']
    """
    found: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if "\n" not in end.group() and _goes_on(text[start : end.start()], text[end.end() :]):
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


def _goes_on(before: str, after: str) -> bool:
    """Whether the full stop at the end of `before` ends no sentence: an abbreviation, an initial, a numbered thing."""
    if not before.endswith("."):
        return False
    word = before.split()[-1].rstrip(".").lstrip("(\"'“‘[").lower()
    if not word:
        return True  # an ellipsis or a file name that begins with a dot
    upper = after[:1].isupper()
    if word in _TITLES or (len(word) == 1 and word.isalpha() and word != "i"):
        return upper or len(word) > 1 or word != "d"
    if word in _ABBREVIATIONS:
        return not upper or word in (
            "no",
            "nr",
            "vs",
            "e.g",
            "i.e",
            "eg",
            "ie",
            "mt",
            "fig",
            "vol",
            "approx",
            "ca",
            "cf",
        )
    # A numbered line ("2. Tomasz reported …") is no sentence of one figure.
    if re.fullmatch(r"\d{1,2}", word) and (before.strip(" .") == word or "\n" in before[-len(word) - 2 :]):
        return True
    # A short word before a small letter or a figure is cut short: "3 mths. trial", "del. Thursday".
    return (
        bool(after)
        and not upper
        and len(word) <= 4
        and (after[0].islower() or after[0].isdigit())
        and not _is_word(word)
    )


def _is_word(text: str) -> bool:
    """Whether a short word is a whole one, so far as the lexicon knows."""
    return (
        text in FUNCTION_WORDS
        or bool(base_of(text))
        or is_past(text)
        or text in _SHORT
        or (not re.search(r"[aeiouy]", text) and text.isdigit())
        or any(letter.isdigit() for letter in text)
    )


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
