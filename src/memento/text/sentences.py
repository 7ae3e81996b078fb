"""
Split a text into blocks, its prose into sentences, and these into clauses of one statement each.

Code blocks, lists, tables and minutes are kept whole. Words that only introduce a sentence are removed.

*But:* a clause is split off only where a new subject and verb begin; in doubt it stays. A list whose items are sentences ("- I live
in Rome") is read as prose with a bullet before each sentence.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal

from memento.assets import lexicon
from memento.text.tables import LEXICON, Row, compile_pattern, entries, fill
from memento.text.words import FUNCTION_WORDS, WORDS, base_of, is_past

LONGEST_READ = 2_000
"""The longest sentence or memory, in characters, that rules read; a longer one is kept as it is."""

LONGEST_TEXT = 20_000
"""The length, in characters, up to which rules read a note sentence by sentence."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BLANKS = re.compile(r"\s{9,}")
_NEAR = 60
"""The number of characters around a full stop that decide whether a sentence ends there."""
_END = re.compile(r"(?<=[.!?…。！？])[\"'”’)\]]*\s+(?!\[)|(?<=[。！？])(?=\S)|\n+")
_BULLET = re.compile(r"^\s*(?:(?:•|(?:[-*–]|\d{1,2}[.)]|#{1,6})(?=\s))\s*|[-*•–]+\s*$)+")

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
    Tell whether rules may read a text: up to this length, their patterns take bounded time.

    *Because:* every text passes this check: a note sentence by sentence, a memory whole.

    >>> is_readable("USER lives in Oslo."), is_readable("x" * 2001), is_readable("a" + " " * 9)
    (True, False, False)
    """
    return len(text) <= LONGEST_READ and not _BLANKS.search(text)


def shorten_line(text: str, most: int) -> str:
    """
    Cut a text to one line of at most so many characters, at the end of a word if possible.

    >>> shorten_line("USER works at Google in Zurich", 20), shorten_line("short", 20)
    ('USER works at…', 'short')
    """
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    cut = line[: most - 1]
    return (cut[: cut.rfind(" ")] if cut.rfind(" ") > most // 2 else cut) + "…"


def shorten_blanks(text: str) -> str:
    """
    Replace many blanks by one, or by one line break if they contain one.

    >>> shorten_blanks("a" + " " * 100 + "b" + " " * 9 + "\\n" * 9 + "c")
    'a b\\nc'
    """
    return _BLANKS.sub(lambda run: "\n" if "\n" in run[0] else " ", text)


class Opening(Row, frozen=True, kw_only=True):
    """A part of the expression that recognises words that only introduce or correct."""

    kind: Literal["opening", "correction"]


@cache
def opening_rows() -> tuple[Opening, ...]:
    """Return the rows of the table of openings."""
    return tuple(entry.row for entry in entries(LEXICON / "sentences.toml", Opening, {}, flags=re.IGNORECASE))


def join_openings(rows: Iterable[Opening]) -> Mapping[str, re.Pattern[str]]:
    """Compile the rows of each kind into one expression for the beginning of a sentence."""
    parts: dict[str, list[str]] = {"opening": ["(?!)"], "correction": ["(?!)"]}
    for row in rows:
        parts[row.kind].append(fill(row.pattern, {}))
    return {kind: compile_pattern(rf"^(?:{'|'.join(texts)})\s*", re.IGNORECASE) for kind, texts in parts.items()}


@cache
def openings() -> Mapping[str, re.Pattern[str]]:
    """Return the compiled expression of each kind of opening."""
    return join_openings(opening_rows())


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a long text, with its spelling unchanged; its first `overlap` characters repeat the end of the piece before."""

    text: str
    overlap: int = 0


def split_long(text: str, *, over: int = 1000, most: int = 500, overlap: int = 100) -> list[Piece]:
    """
    Split a text of more than `over` words into pieces of at most `most`; a shorter text is one piece.

    A piece ends at the end of a paragraph if possible, else of a sentence, else of a word, and begins with the last `overlap` words
    of the piece before.

    >>> [piece.text for piece in split_long("One two. Three four five. Six.", over=4, most=4, overlap=1)]
    ['One two.', 'two. Three four five.', 'five. Six.']
    """
    words = [found.span() for found in _WORD_SPAN.finditer(text)]
    if not over or len(words) <= over:
        return [Piece(text)]
    # The numbers of words after which a paragraph ends, and after which a sentence ends.
    gaps = [text[end:begin] for (_, end), (begin, _) in pairwise(words)]
    paragraphs = [at for at, gap in enumerate(gaps, start=1) if gap.count("\n") > 1]
    ends = {found.start() for found in _SENTENCE_END.finditer(text)}
    stops = [
        at for at, ((_, end), gap) in enumerate(zip(words, gaps, strict=False), start=1) if end in ends or "\n" in gap
    ]
    pieces: list[Piece] = []
    overlap = min(overlap, most - 1)
    begin, shared = 0, 0
    while begin < len(words):
        last = begin + most - shared
        end = (
            len(words)
            if last >= len(words)
            else _latest(paragraphs, begin, last) or _latest(stops, begin, last) or last
        )
        start = words[begin - shared][0]
        pieces.append(Piece(text[start : words[end - 1][1]], words[begin][0] - start))
        begin, shared = end, min(overlap, end)
    return pieces


def split_read(text: str) -> tuple[str, str]:
    """
    Split a text into its beginning, which rules read sentence by sentence, and the rest, which is kept as it is.

    A text of at most `LONGEST_TEXT` characters is all beginning; a longer one is split after a sentence, else after a word.

    >>> begin, rest = split_read("Rain fell. " * 2_000)
    >>> len(begin), begin[-11:], rest[:11]
    (19997, ' Rain fell.', ' Rain fell.')
    """
    if len(text) <= LONGEST_TEXT:
        return text, ""
    begin = text[: LONGEST_TEXT + 1]
    ends = [found.start() for found in _SENTENCE_END.finditer(begin)] or [
        found.end() for found in _WORD_SPAN.finditer(begin)
    ]
    at = max((end for end in ends if end <= LONGEST_TEXT), default=LONGEST_TEXT)
    return text[:at], text[at:]


def _latest(stops: Sequence[int], after: int, until: int) -> int:
    """Return the last of some ascending numbers above `after` and up to `until`; 0 if there is none."""
    at = bisect_right(stops, until)
    return stops[at - 1] if at and stops[at - 1] > after else 0


_WORD_SPAN = re.compile(r"\S+")
_SENTENCE_END = re.compile(r"(?<=[.!?…。！？\"'”’)\]])(?=\s)")


def sentences(text: str) -> list[str]:
    """
    Return the sentences of a text, trimmed; abbreviations and initials end none. `is_readable` tells which of them rules may read.

    >>> sentences("I met Dr. Ruiz. She works at St. Mary's! - Second\\n* third")
    ['I met Dr. Ruiz.', "She works at St. Mary's!", 'Second', 'third']
    """
    text = shorten_blanks(text)
    found: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if "\n" not in end.group() and _goes_on(
            text[max(start, end.start() - _NEAR) : end.start()], text[end.end() : end.end() + _NEAR]
        ):
            continue
        found.append(text[start : end.end()])
        start = end.end()
    found.append(text[start:])
    return [trimmed for piece in found if (trimmed := _BULLET.sub("", piece).strip())]


def introduced(sentence: str, rows: Iterable[Opening] | None = None) -> tuple[str, bool]:
    """
    Return a sentence without "Remember that", "FYI", "Correction:" and the like, and whether it corrects something.

    `rows` defaults to the whole table.

    >>> introduced("Please remember that my dog is a beagle.")
    ('my dog is a beagle.', False)
    >>> introduced("Correction: the launch is on June 1.")
    ('the launch is on June 1.', True)
    """
    corrects, shapes = False, openings() if rows is None else join_openings(rows)
    for _ in range(4):
        without = shapes["opening"].sub("", sentence, count=1)
        if match := shapes["correction"].match(without):
            corrects, without = True, without[match.end() :]
        if without == sentence or not without.strip():
            break
        sentence = without
    return sentence, corrects


def clauses(sentence: str) -> list[str]:
    """
    Split a sentence into its coordinate statements, without the words that join them.

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
        if hard or (
            not _SCOPED.search(left) and _has_verb(left) and _has_verb(_first_words(right)) and _is_balanced(left)
        ):
            pieces.append(left)
            start = joint.end()
    return [piece.strip() for piece in (*pieces, sentence[start:]) if piece.strip()]


def _goes_on(before: str, after: str) -> bool:
    """Tell whether the full stop at the end of `before` ends no sentence: an abbreviation, an initial, a numbered thing."""
    if not before.endswith("."):
        return False
    word = before.split()[-1].rstrip(".").lstrip("(\"'“‘[").lower()
    if not word:
        return True  # an ellipsis or a file name that begins with a dot
    upper = after[:1].isupper()
    if word in WORDS["abbreviated_titles"] or (len(word) == 1 and word.isalpha() and word != "i"):
        return upper or len(word) > 1 or word != "d"
    if word in WORDS["abbreviations"]:
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
    # The number of a list item ("2. Tomasz reported …") is not a sentence.
    if re.fullmatch(r"\d{1,2}", word) and (before.strip(" .") == word or "\n" in before[-len(word) - 2 :]):
        return True
    # A short word before a small letter or a figure is an abbreviation: "3 mths. trial", "del. Thursday".
    return (
        bool(after)
        and not upper
        and len(word) <= 4
        and (after[0].islower() or after[0].isdigit())
        and not _is_word(word)
    )


def _is_word(text: str) -> bool:
    """Tell whether the lexicon shows that a short word is a whole one."""
    return (
        text in FUNCTION_WORDS
        or bool(base_of(text))
        or is_past(text)
        or text in WORDS["short"]
        or (not re.search(r"[aeiouy]", text) and text.isdigit())
        or any(letter.isdigit() for letter in text)
    )


def _first_words(text: str) -> str:
    """Return enough of a clause to contain its subject and verb."""
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
    """Tell whether an "-ing" form has no form of "be" before it: "SQL learning" is a noun, "she is learning" a verb."""
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
    """Tell whether a word that may be a verb is in the position of a noun: first, or after an article or a possessive."""
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


def _is_balanced(text: str) -> bool:
    """Tell whether the quotes and brackets that open in a text also close in it."""
    return text.count('"') % 2 == 0 and text.count("(") == text.count(")") and text.count("“") == text.count("”")


Kind = Literal["prose", "code", "list", "table", "minutes"]

LARGEST = 1500
"""The largest block, in characters, that is kept whole; a longer one is cut between lines."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a text, and how it is read."""

    text: str
    kind: Kind


_LINE_FENCE = re.compile(r"^\s*(?:```|~~~)")
_LINE_ITEM = re.compile(r"^\s*(?:[-*•–+]|\d{1,2}[.)]|\[[ xX]\])\s+\S")
_LINE_ROW = re.compile(r"^[^|\n]*\|[^|\n]*\||^[^\t\n]*\t[^\t\n]*\t")
_LINE_COMMAND = re.compile(r"^\s*(?:`[^`]+`\.?|\$ \S.*|>>> .*|(?:ERROR|WARN|INFO|DEBUG)\b.*)$")
_LINE_MINUTES = re.compile(
    r"^\W*(?:\w+\s+){0,2}(?:minutes|meeting\s+notes|protocol|protokoll|retro(?:spective)?\s+notes|agenda)\b",
    re.IGNORECASE,
)
_LINE_PRESENT = re.compile(
    r"^[^\w\n]*+(?:present|attendees|attending|participants|in\s+the\s+room)[^\S\n]*+:", re.IGNORECASE | re.MULTILINE
)
_LINE_SUBJECT = re.compile(
    r"^\s*(?:[-*•–+]|\d{1,2}[.)]|\[[ xX]\])\s+"
    r"(?:(?:I|I['’]\w+|we|we['’]\w+|my|our|he|she|they|it|the|there)\s+\w|[A-Z][\w'’-]*\s+\w)",
    re.IGNORECASE,
)
_LINE_HEADING = re.compile(r"^[^\S\n]*+(?:#{1,6}\s|[*_]{2}[^*_\n]++[*_]{2}:?[^\S\n]*+$|[=-]{3,}+[^\S\n]*+$)")
_LINE_LABEL = re.compile(
    r"^([^\S\n]*+(?:(?:[-*•+]|\d{1,2}[.)])[^\S\n]++)?)\*\*[^*\n]{1,80}\*\*[^\S\n]*+(?::|[–—-]\s)|\*\*[^*\n]{1,80}:\*\*"
)
_LINE_CODE = re.compile(r"`[^`\n]*+`|(?<![\w/@.])[^\W_]++(?:_++[^\W_]++)++(?:\(\))?")
"""Inline code: in backticks, or an identifier of several words."""
_LINE_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def blocks(text: str) -> list[Block]:
    """
    Split a text into blocks, in order; a line that announces a block ("The steps:") belongs to it.

    >>> [block.kind for block in blocks("I like tea.\\nTo buy:\\n- milk\\n- flour")]
    ['prose', 'list']
    """
    if "\n" not in text.strip():
        return [Block(text.strip(), "prose")] if text.strip() else []
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    if "```" not in text and (_LINE_PRESENT.search(text) or (_LINE_MINUTES.match(first) and len(lines) > 2)):
        return [Block(part, "minutes") for part in _cut(text.strip())]
    found: list[Block] = []
    for kind, part in _group_lines(lines):
        body = "\n".join(part).strip("\n")
        if not body.strip():
            continue
        if kind != "prose" and found and found[-1].kind == "prose" and (split := _split_announcement(found[-1].text)):
            before, announcement = split
            found[-1:] = [Block(before, "prose")] if before.strip() else []
            body = f"{announcement}\n{body}"
        found += [Block(one, kind) for one in (_cut(body) if kind != "prose" else [body])]
    return found


def prose(text: str) -> list[str]:
    """
    Return the sentences of a text in which something may be named, without code, headings and labels in bold.

    >>> prose("# Weekly Plan\\n- **Next Step**: I call Oda.\\n```\\nX = Y\\n```\\nThen `set_up` runs.")
    ['I call Oda.', 'Then  runs.']
    """
    if not any(sign in text for sign in "\n`*#_"):
        return sentences(text)
    found: list[str] = []
    for block in blocks(text):
        if block.kind != "code":
            lines = (_LINE_LABEL.sub(r"\1", line) for line in block.text.splitlines() if not _LINE_HEADING.match(line))
            found += sentences(_LINE_CODE.sub(_without_code, "\n".join(lines)))
    return found


def _without_code(piece: re.Match[str]) -> str:
    """Keep words quoted as code only if they contain no sign of a programming language: `vim`."""
    quoted = piece[0].startswith("`")
    return piece[0].strip("`") if quoted and not set("_(){}=/<>$.:;") & set(piece[0]) else ""


def language(text: str) -> str:
    """
    Return the code of a text's language: "en" also if there is too little to tell, "xx" for a script that is not Latin.

    >>> language("Ich wohne jetzt in Köln und arbeite nicht mehr."), language("We moved to Köln."), language("ok")
    ('de', 'en', 'en')
    """
    letters = [letter for letter in text if letter.isalpha()]
    if letters and sum(ord(letter) > 0x24F for letter in letters) > len(letters) / 2:
        return "xx"
    words = [word.lower() for word in _LINE_WORD.findall(text)]
    if len(words) < 3:
        return "en"
    scores = {code: sum(word in known for word in words) for code, known in _languages().items()}
    best = max(scores, key=lambda code: (scores[code], code == "en"))
    english = sum(word in _languages()["en"] or _is_english_verb(word) for word in words)
    if best == "en" or scores[best] < 2 or scores[best] <= english:
        return "en"
    return best if scores[best] / len(words) >= 0.2 else "en"


def _is_english_verb(word: str) -> bool:
    return len(word) > 3 and (base_of(word) is not None or is_past(word))


def _group_lines(lines: list[str]) -> Iterator[tuple[Kind, list[str]]]:
    """Yield runs of lines that are read in the same way."""
    at = 0
    while at < len(lines):
        start, kind = at, _kind_at(lines, at)
        if kind == "code" and _LINE_FENCE.match(lines[at]):
            at += 1
            while at < len(lines) and not _LINE_FENCE.match(lines[at]):
                at += 1
            at = min(at + 1, len(lines))
        else:
            at += 1
            while at < len(lines) and (_kind_at(lines, at) == kind or (kind != "prose" and _continues(lines, at))):
                if _LINE_FENCE.match(lines[at]):
                    break
                at += 1
        run = lines[start:at]
        if kind == "list" and _is_of_sentences(run):
            kind = "prose"
        yield kind, run


def _kind_at(lines: list[str], at: int) -> Kind:
    line = lines[at]
    if _LINE_FENCE.match(line) or _LINE_COMMAND.match(line):
        return "code"
    beside = [lines[other] for other in (at - 1, at + 1) if 0 <= other < len(lines)]
    if _LINE_ITEM.match(line) and any(_LINE_ITEM.match(other) for other in beside):
        return "list"
    if _LINE_ROW.match(line) and any(_LINE_ROW.match(other) for other in beside):
        return "table"
    return "prose"


def _continues(lines: list[str], at: int) -> bool:
    """Tell whether a line continues an item: it is indented, or blank between two items."""
    return bool(lines[at].strip()) and lines[at].startswith(("  ", "\t"))


def _is_of_sentences(run: list[str]) -> bool:
    items = [line for line in run if _LINE_ITEM.match(line)]
    whole = [line for line in items if _LINE_SUBJECT.match(line) and _has_finite_verb(line)]
    return len(whole) * 2 > len(items)


def _has_finite_verb(line: str) -> bool:
    words = _LINE_WORD.findall(line)
    return any(
        is_past(word) or word.lower() in ("is", "are", "am", "was", "were", "has", "have") or "'" in word or "’" in word
        for word in words[:6]
    ) or bool(len(words) > 1 and base_of(words[1].lower()))


def _split_announcement(text: str) -> tuple[str, str] | None:
    """Return (what comes before, the announcing line) if a text ends with a line that announces what follows."""
    before, _, last = text.rstrip().rpartition("\n")
    if len(last) <= 200 and (last.rstrip().endswith(":") or not last.rstrip().endswith((".", "!", "?"))):
        return before, last
    sentence = re.search(r"(?<=[.!?])\s+([^.!?]*:)\s*$", last)
    return (f"{before}\n{last[: sentence.start()]}", sentence[1]) if sentence else None


def _cut(text: str) -> list[str]:
    """Return the text whole, or cut at ends of lines into parts of at most `LARGEST` characters."""
    if len(text) <= LARGEST:
        return [text]
    parts: list[str] = []
    for line in text.splitlines():
        if parts and len(parts[-1]) + len(line) < LARGEST:
            parts[-1] += f"\n{line}"
        else:
            parts.append(line)
    return [part for part in parts if part.strip()]


@cache
def _languages() -> dict[str, frozenset[str]]:
    return {line.split()[0]: frozenset(line.split()[1:]) for line in lexicon("languages")}


def drop_controls(text: str) -> str:
    """
    Remove control characters except tabs and line ends from a text: XML cannot contain them, and a terminal would obey them.

    >>> drop_controls("a\\x00b\\x1b[31m\\tc\\r\\n")
    'ab[31m\\tc\\r\\n'
    """
    return _CONTROLS.sub("", text)
