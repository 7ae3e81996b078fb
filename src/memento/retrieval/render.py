"""
Format the result of a recall as text for a model (`as_lines`, `as_xml`, `as_list`) or for a person (`as_text`).

*Guarantees:* nothing inside a note can close or open an element of the block. The block has no repetitions: a note whose words are
in its memories is reduced to its date, and a description that they repeat is left out. A relative day is given with its date.

*But:* the block never shows IRIs; a model has no use for them. What a note says in addition to its memories is an excerpt around
them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

from memento.iris import short_id
from memento.model import NEAREST, Ended, NoteRef, Recalled, RecalledEntity, Recollection, Retired
from memento.retrieval.sentence import split_at
from memento.search.postings import tokens
from memento.text.dates import dates
from memento.text.sentences import is_readable

UNKNOWN = "unknown"
_PIECES = re.compile(r"([A-Za-z]+)|([0-9]+)|([!-/:-@\[-`{-~]+)|(\n)|(\S)")
_PER_TOKEN = (1, 5, 3, 2, 1, 1)

EXCERPT = 240
"""Length in characters of the excerpt from a note around its memory."""
_FRAME = 12
"""Number of tokens of a memory besides its text: its dates, its place."""

_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]*")
_NEAR_DAY = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|(?:this|last|next)\s+(?:morning|afternoon|evening|night|week|weekend|month|year|spring|summer"
    r"|autumn|fall|winter|mon|tues|wednes|thurs|fri|satur|sun)(?:day)?|ago)\b",
    re.IGNORECASE,
)

_DATED = re.compile(r"(?<!\w)(?:\w++\s++){1,4}\[\d[^\[\]]{0,40}+\]")
"""An added date, with the few words before it."""

_NOT_XML = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


def as_xml(recollection: Recollection, today: date, instructions: str = "") -> str:
    """
    Return the `<memento>` block: date, question, entities that need explaining, notes by number, memories with their history.

    Well-known entities are left out, dates are cut to the day, a missing date is a missing attribute. The sentence of a memory that
    answers is a `<match>`.

    Args:
        instructions: tells the model what to do with the block; comes first.
    """
    numbers = _number_notes(recollection.memories)
    notes = {number: one.note for one in recollection.memories if one.note and (number := numbers[one.note.iri])}
    said = {term for one in recollection.memories for term in tokens(f"{one.content} {' '.join(one.about)}")}
    sections = [
        [f"<instructions>{_escape(instructions)}</instructions>"] if instructions else [],
        [f"<notice>{_escape(one)}</notice>" for one in (recollection.degraded, recollection.notice) if one],
        [f"<current-date>{today.isoformat()}</current-date>"],
        [f"<query>{_escape(recollection.query)}</query>"],
        _wrap(
            "entities",
            [line for one in recollection.entities if not one.is_well_known for line in _render_entity(one, said)],
        ),
        _wrap(
            "notes",
            [
                line
                for number, note in notes.items()
                for line in _render_element(
                    "note",
                    {"id": number, "timestamp": _format_day(note.at), "part": note.place},
                    _render_note(note, recollection.memories),
                )
            ],
        ),
        _wrap("memories", [line for one in recollection.memories for line in _render_memory(one, numbers)]),
        _wrap("nearest", [line for one in recollection.nearest for line in _render_memory(one, {})]),
        _wrap(
            "related",
            [
                line
                for one in recollection.related
                for line in _render_element("memory", {"relation": one.relation}, [_render_content(one.content)])
            ],
        ),
        [f'<left_out memories="{recollection.left_out}"/>'] if recollection.left_out else [],
        _wrap(
            "cut",
            [
                line
                for one in recollection.cut
                for line in _render_element("memory", {"relevance": f"{one.relevance:.2f}", "reason": one.reason}, [])
            ],
        ),
    ]
    body = "\n\n".join("\n".join(f"  {line}" for line in section) for section in sections if section)
    return f"<memento>\n{body}\n</memento>"


def as_lines(recollection: Recollection, today: date, instructions: str = "") -> str:
    """
    Return the `<memento>` block as dated lines: when and by whom each memory was said, and what of it holds no longer.

    A memory in somebody's own words begins with their name, or with "you:"; one that a model worded, or a turn of a conversation,
    with its date alone.
    """
    shown = {one.iri for one in recollection.memories}
    lines = [one for one in (instructions, recollection.degraded, recollection.notice) if one]
    lines.append(f"Today: {_name_day(today)}.")
    lines += [_write_line(one, shown) for one in recollection.memories]
    body = "\n".join(map(_escape, lines))
    return f"<memento>\n{body}\n</memento>"


def _write_line(one: Recalled, shown: Collection[str]) -> str:
    content, said_at = one.content, one.valid_at
    if one.note:
        content = _date_days(content, one.note.at, ())[0].removesuffix(_name_said(one.note.at))
        if one.is_quoted:
            said_at = one.note.at
    remarks = [f"“{_join_lines(over.words)}” until {_name_day(over.at)}" for over in one.ended]
    remarks += [f"until {_name_day(one.invalid_at)}"] if one.invalid_at else []
    remarks += [f"against it: “{_join_lines(other.content)}”" for other in one.contradicts if other.iri not in shown]
    told = f" {one.speaker}:" if one.speaker else ":" if said_at else ""
    line = f"{_name_day(said_at)}{told} {content}".strip()
    return f"{line} ({'; '.join(remarks)})" if remarks else line


def _name_day(at: date | None) -> str:
    return f"{at.day} {at:%b %Y}" if at else ""


def _name_said(at: datetime) -> str:
    return f" [said {at.date().isoformat()}]"


def fit_block(
    recollection: Recollection,
    today: date,
    most_tokens: int,
    instructions: str = "",
    form: Literal["lines", "xml"] = "xml",
) -> tuple[Recollection, str]:
    """
    Return the block with as many memories, best first, as fit into a token limit, and what it contains; no memories if none fits.
    What is nearest is no answer, and is left out.

    Long texts are shortened, the question most of all, because the reader of the block has it anyway.
    """
    short = _shorten(replace(recollection, nearest=()), most_tokens)
    write = as_lines if form == "lines" else as_xml
    fitting, block = 0, ""
    too_many = len(short.memories) + 1
    tried = len(short.memories)
    while too_many - fitting > 1:
        text = write(_keep_first(short, tried), today, instructions)
        size = count_tokens(text)
        if size <= most_tokens:
            fitting, block = tried, text
        else:
            too_many = tried
        # Memories have similar lengths, so the next guess is proportional.
        tried = min(max(tried * most_tokens // size, fitting + 1), too_many - 1)
    return _keep_first(short, fitting), block


def fit_budget(recollection: Recollection, budget: int) -> Recollection:
    """
    Return what fits into a token limit, best first: the text of each memory, and an excerpt of its note where that says more.

    A memory that is too long is skipped in favour of shorter ones after it; only the first is shortened instead of left out.
    """
    kept, left = _keep_within(recollection.memories, budget)
    nearest, _ = _keep_within(recollection.nearest, left)
    return replace(_keep(recollection, kept), nearest=nearest)


def _keep_within(memories: Iterable[Recalled], budget: int) -> tuple[tuple[Recalled, ...], int]:
    """Return the memories that fit into a token limit, shortened, and the tokens that are left."""
    kept: list[Recalled] = []
    left = budget
    for one in memories:
        short = _excerpt_notes(one)
        size = _FRAME + count_tokens(short.content) + (count_tokens(short.note.content) if short.note else 0)
        if size > left and not kept:
            short = replace(short, note=short.note and replace(short.note, content=""))
            short = replace(short, content=_cut_to(short.content, left - _FRAME), sentence=None)
            size = _FRAME + count_tokens(short.content)
        if size <= left and short.content:
            kept.append(short)
            left -= size
    return tuple(kept), left


def _excerpt_notes(one: Recalled) -> Recalled:
    """Return a memory whose notes are reduced to the excerpts around it."""
    notes = tuple(replace(note, content=excerpt(note.content, one.content, EXCERPT)) for note in one.notes)
    return replace(
        one, note=one.note and replace(one.note, content=excerpt(one.note.content, one.content, EXCERPT)), notes=notes
    )


def _cut_to(text: str, most_tokens: int) -> str:
    """Return the beginning of a text, cut to a number of tokens."""
    while text and count_tokens(text) > most_tokens:
        text = _cut(text.rstrip("…"), max(len(text) * most_tokens // max(count_tokens(text), 1) - 2, 0)).strip("…")
        text = f"{text}…" if text else ""
    return text


def excerpt(text: str, around: str, most: int) -> str:
    """
    Return about `most` characters of a text, namely the sentences that share most words with another text.

    >>> excerpt("It rained all day. Ana moved to Faro in May. We had soup for dinner.", "Ana moved to Faro.", 30)
    '… Ana moved to Faro in May. …'
    """
    if len(text) <= most:
        return text
    wanted = set(tokens(around))
    pieces = [found.span() for found in _SENTENCE.finditer(text)]
    best = max(range(len(pieces)), key=lambda at: len(wanted & set(tokens(text[slice(*pieces[at])]))), default=0)
    begin, end = pieces[best] if pieces else (0, most)
    first = last = best
    while pieces:
        grown = [(pieces[first - 1][0], end)] if first else []
        grown += [(begin, pieces[last + 1][1])] if last + 1 < len(pieces) else []
        fitting = [span for span in grown if span[1] - span[0] <= most]
        if not fitting:
            break
        first, last = (first - 1, last) if fitting[0][0] < begin else (first, last + 1)
        begin, end = fitting[0]
    inside = _cut(text[begin:end].strip(), most)
    return f"{'… ' if begin else ''}{inside}{' …' if end < len(text) and not inside.endswith('…') else ''}"


def date_days(text: str, at: datetime) -> str:
    """
    Return a text with the date added after each relative day; where a relative time has no date, add the date on which it was said.

    >>> at = datetime.fromisoformat("2026-03-02T10:00:00+00:00")
    >>> date_days("We met yesterday.", at), date_days("Met yesterday [2026-03-01].", at)
    ('We met yesterday [2026-03-01].', 'Met yesterday [2026-03-01].')
    >>> date_days("The boat leaves this evening or next spring.", at)
    'The boat leaves this evening or next spring [2027-03-01]. [said 2026-03-02]'
    """
    return _date_days(text, at, ())[0]


def _date_days(text: str, at: datetime, cuts: Sequence[int]) -> tuple[str, list[int]]:
    """Return a text with its relative days dated, and some positions in it after that; a date after a position moves it on."""
    places = [*cuts]
    if not _NEAR_DAY.search(text) or not is_readable(text):
        return text, places
    undated = text
    for found in sorted(dates(text, at), key=lambda one: -one.end):
        words, rest = text[found.start : found.end], text[found.end :]
        if _NEAR_DAY.search(words) and not rest.lstrip().startswith("["):
            day = f" [{found.value.date().isoformat()}]"
            text = f"{text[: found.end]}{day}{rest}"
            places = [place + len(day) if found.end <= place else place for place in places]
            undated = undated[: found.start] + undated[found.end :]
    said = _name_said(at) if _NEAR_DAY.search(_DATED.sub("", undated)) else ""
    return text + said, places


def _split_dated(one: Recalled) -> tuple[str, str, str]:
    """Return what stands before the sentence that answers, the sentence and what stands after, with relative days dated."""
    parts = split_at(one.content, one.sentence)
    if not one.note:
        return parts
    text, (start, end) = _date_days(one.content, one.note.at, (len(parts[0]), len(parts[0]) + len(parts[1])))
    return text[:start], text[start:end], text[end:]


def count_tokens(text: str) -> int:
    """
    Estimate the number of tokens that a model counts, rather too many than too few.

    One token is: five Latin letters, three digits, two punctuation characters, one letter of another alphabet, or the start of a
    line.

    >>> count_tokens("I live in Lisbon."), count_tokens("2024-03-01"), count_tokens("東京")
    (6, 6, 2)
    """
    # For each alternative of the pattern, the number of characters per token.
    return sum(-(-len(found.group()) // _PER_TOKEN[found.lastindex or 0]) for found in _PIECES.finditer(text))


def _shorten(recollection: Recollection, most: int) -> Recollection:
    """Return it with no text longer than `most` characters, and the question cut to a third of that."""
    memories = tuple(
        replace(
            one,
            content=_cut(one.content, most),
            note=one.note and replace(one.note, content=_cut(one.note.content, most)),
            invalidates=tuple(_shorten_retired(old, most) for old in one.invalidates),
        )
        for one in recollection.memories
    )
    entities = tuple(replace(one, description=_cut(one.description, most)) for one in recollection.entities)
    return replace(recollection, query=_cut(recollection.query, most // 3), memories=memories, entities=entities)


def _shorten_retired(old: Retired, most: int) -> Retired:
    older = tuple(_shorten_retired(one, most) for one in old.invalidates)
    return replace(old, content=_cut(old.content, most), reason=_cut(old.reason, most), invalidates=older)


def _keep_first(recollection: Recollection, kept: int) -> Recollection:
    """Return the first memories and the entities that they are about."""
    return _keep(recollection, recollection.memories[:kept])


def _keep(recollection: Recollection, memories: tuple[Recalled, ...]) -> Recollection:
    """Return some of the memories, the entities that they are about, and the number of those left out."""
    named = {iri for one in memories for iri in one.about_iris}
    entities = tuple(one for one in recollection.entities if one.iri in named)
    left_out = recollection.left_out + len(recollection.memories) - len(memories)
    return replace(recollection, memories=memories, entities=entities, left_out=left_out)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most].rstrip()}…"


def as_text(recollection: Recollection) -> str:
    """Format a tree for people: entities that need explaining, then each memory with its details."""
    notice = [f"Note: {one}" for one in (recollection.degraded, recollection.notice) if one]
    lines = [f"Recalled for: {' '.join(recollection.query.split())}", *notice, ""]
    shown = [one for one in recollection.entities if not one.is_well_known]
    if shown:
        lines.append("Entities")
        lines += [f"├─ {one.name} ({one.kind})" + (f": {one.description}" if one.description else "") for one in shown]
        lines.append("")
    lines.append("Memories" if recollection.memories else "Memories: none")
    for one in recollection.memories:
        lines += [f"[M{one.rank}] {one.iri}", *(f"  ├─ {line}" for line in _list_details(one))]
    lines += ["", NEAREST] if recollection.nearest else []
    for one in recollection.nearest:
        lines += [f"[N{one.rank}] {one.iri}", *(f"  ├─ {line}" for line in _list_details(one))]
    if recollection.left_out:
        lines.append(f"Left out, as the budget is full: {recollection.left_out}")
    lines += [f"Linked ({one.relation}): {_join_lines(one.content)} {one.memory}" for one in recollection.related]
    lines += [f"Cut: {one.iri}, relevance {one.relevance:.2f}, {one.reason}" for one in recollection.cut]
    return "\n".join(lines)


def as_list(recollection: Recollection) -> str:
    """
    Format a line for each memory, with when it held, what it replaced and its id, for a model that reads a tool's text. The
    sentence that answers is between asterisks.

    Further lines of a memory, as of code, are indented, so that none looks like another memory. What was corrected is not told
    again, as it was never true.
    """
    lines = [f"Note: {said}" for said in (recollection.degraded, recollection.notice) if said]
    if not recollection.memories:
        lines.append(NEAREST if recollection.nearest else "No memory answers this.")
    for one in (*recollection.memories, *recollection.nearest):
        known = [f"{name} {_format_day(at)}" for name, at in (("since", one.valid_at), ("until", one.invalid_at)) if at]
        known += [f"{one.count} memories say so"] if one.count > 1 else []
        known += [_say_ended(over) for over in one.ended]
        known += [_say_replaced(old) for old in one.invalidates if not old.was_never_true]
        known += [f"contradicted by “{_join_lines(other.content)}”" for other in one.contradicts]
        before, answering, after = _split_dated(one)
        content = f"{before}**{answering}**{after}" if answering else f"{before}{after}"
        lines.append(f"- {_indent(content)} ({'; '.join(known) or 'undated'}) {short_id(one.iri)}")
        if one.note and _render_note(one.note, (one, *recollection.memories)):
            lines.append(
                f"  from {_name_note(one.note)} of {_format_day(one.note.at)}: "
                f"{_indent(excerpt(one.note.content, content, 2 * EXCERPT))}"
            )
    if recollection.left_out:
        lines.append(f"{recollection.left_out} more were left out: a larger budget shows them.")
    lines += [
        f"- linked ({one.relation}): {_join_lines(one.content)} {short_id(one.memory)}" for one in recollection.related
    ]
    return "\n".join(lines)


def _say_replaced(old: Retired) -> str:
    until = f" until {_format_day(old.invalid_at)}" if old.invalid_at else ""
    return f"before: “{_join_lines(old.content)}”{until}"


def _say_ended(over: Ended) -> str:
    return f"“{_join_lines(over.words)}” ended {_format_day(over.at)}" + (f" ({over.reason})" if over.reason else "")


def _name_note(note: NoteRef) -> str:
    return f"{note.place} of a note" if note.place else "a note"


def _indent(text: str) -> str:
    return "\n    ".join(text.strip().splitlines())


def _join_lines(text: str) -> str:
    return " ".join(text.split())


def _list_details(one: Recalled) -> Iterator[str]:
    yield f"Content: {one.content}"
    if one.sentence:
        yield f"Answers: {one.sentence}"
    yield f"About: {', '.join(one.about) or UNKNOWN}"
    yield f"Valid since: {_format_day(one.valid_at) or UNKNOWN}" + (
        f", until {_format_day(one.invalid_at)}" if one.invalid_at else ""
    )
    if one.why:
        yield f"Why: {', '.join(f'{name} {part:+.3f}' for name, part in one.why.items())}"
    if one.path:
        yield f"Led by: {', '.join(dict.fromkeys(' '.join(step.name.split()) for step in one.path))}"
    for over in one.ended:
        yield f"Ended: {_say_ended(over)}"
    for old in one.invalidates:
        yield from _list_replaced(old, "Invalidates")
    for other in one.contradicts:
        yield f"Contradicted by: {other.content}"
    if one.note:
        told = ", ".join(filter(None, (_format_day(one.note.at), one.note.place)))
        yield f"Extracted from: {told} “{' '.join(one.note.content.split())}”"


def _list_replaced(old: Retired, label: str) -> Iterator[str]:
    since, until = _format_day(old.valid_at) or UNKNOWN, _format_day(old.invalid_at) or UNKNOWN
    yield f"{label}: {old.content} ({since} to {until}; {old.reason})"
    for older in old.invalidates:
        yield from _list_replaced(older, "  which had invalidated")


def _render_note(note: NoteRef, memories: Iterable[Recalled]) -> list[str]:
    """Return the parts of a note around its memories; empty if the memories contain all of its words."""
    own = [one.content for one in memories if one.note and one.note.iri == note.iri]
    if set(tokens(note.content)) <= {term for text in own for term in tokens(text)} | {"user"}:
        return []
    return [_render_content(date_days(excerpt(note.content, " ".join(own), 2 * EXCERPT), note.at))]


def _render_entity(one: RecalledEntity, said: set[str]) -> list[str]:
    """Return an entity, with its description if that adds to the memories (`said` are their stems) and contains no relative day."""
    is_repeated = set(tokens(one.description)) - set(tokens(one.name)) <= said | {"user"}
    is_undated = _NEAR_DAY.search(_DATED.sub("", one.description))
    inside = [] if is_repeated or is_undated else [f"<description>{_escape(one.description)}</description>"]
    return _render_element("entity", {"name": one.name, "type": one.kind}, inside)


def _render_memory(one: Recalled, numbers: dict[str, str]) -> list[str]:
    before, answering, after = map(_escape, _split_dated(one))
    marked = f"<match>{answering}</match>" if answering else ""
    inside = [f"<content>{' '.join(filter(None, (before, marked, after)))}</content>"]
    inside += _wrap("about", [f"<entity>{_escape(name)}</entity>" for name in one.about])
    for over in one.ended:
        inside += _render_element("ended", {"at": _format_day(over.at), "reason": over.reason}, [_escape(over.words)])
    inside += _render_replaced(one.invalidates)
    inside += [line for other in one.contradicts for line in _wrap("contradicted_by", [_render_content(other.content)])]
    if one.note and one.note.iri in numbers:
        inside.append(f'<extracted_from note_id="{numbers[one.note.iri]}"/>')
    dated = {"valid_since": _format_day(one.valid_at), "valid_until": _format_day(one.invalid_at)}
    return _render_element("memory", {**dated, "count": str(one.count) if one.count > 1 else ""}, inside)


def _render_replaced(olds: Iterable[Retired]) -> list[str]:
    lines: list[str] = []
    for old in olds:
        inside = [
            _render_content(old.content),
            f"<reason>{_escape(old.reason)}</reason>",
            *_render_replaced(old.invalidates),
        ]
        attributes = {"valid_since": _format_day(old.valid_at), "valid_until": _format_day(old.invalid_at)}
        lines += _wrap("invalidates", _render_element("memory", attributes, inside))
    return lines


def _number_notes(memories: Iterable[Recalled]) -> dict[str, str]:
    """Return note IRI → `note-01`, `note-02`, … in the order of first appearance."""
    seen = dict.fromkeys(one.note.iri for one in memories if one.note)
    return {iri: f"note-{place:02d}" for place, iri in enumerate(seen, start=1)}


def _render_element(name: str, attributes: dict[str, str], inside: list[str]) -> list[str]:
    start = name + "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items() if value)
    return [f"<{start}>", *(f"  {line}" for line in inside), f"</{name}>"] if inside else [f"<{start}/>"]


def _wrap(name: str, inside: list[str]) -> list[str]:
    return _render_element(name, {}, inside) if inside else []


def _render_content(text: str) -> str:
    return f"<content>{_escape(text)}</content>"


def _escape(text: str) -> str:
    # Characters that XML cannot contain, even escaped, are shown as the replacement character.
    return escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split())))


def _format_day(at: datetime | None) -> str:
    return at.date().isoformat() if at else ""
