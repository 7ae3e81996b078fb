"""Answers of the service as text for people. Plain `click`, as a recall must not wait for more."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import click

Json = Mapping[str, Any]

CONTENT = "http://purl.org/memento/content"


def recollection(found: Json) -> str:
    """Rank, score and content of each memory, with its dates, what it is about, what it replaced, and its note."""
    notice = [click.style(clean(found["degraded"]), fg="red")] if found["degraded"] else []
    if not found["memories"]:
        nothing = "Nothing relevant comes to mind." if found["gated"] else "Nothing comes to mind."
        return "\n".join([*notice, nothing])
    ranks = {memory["iri"]: memory["rank"] for memory in found["memories"]}
    lines = notice + [line for memory in found["memories"] for line in (*_memory(memory), *_reasons(memory, ranks))]
    return "\n".join([*lines, "", found["sparql"].rstrip()] if found["sparql"] else lines)


def forgotten(answer: Json) -> str:
    """How many memories went, and which notes still say what was erased."""
    count = len(answer["memories"])
    said = f"{'Erased' if answer['erased'] else 'Forgot'} {count} {'memory' if count == 1 else 'memories'}."
    notes = [
        f"Note {iri} still says it, as other memories come from it: erase it with `memento forget --erase {iri}`."
        for iri in answer["still_told"]
    ]
    return "\n".join([said, *notes])


def noted(answer: Json, contents: Mapping[str, str]) -> str:
    """What was stored and retired; `contents` are the texts of the memories by IRI."""
    if answer["skipped"]:
        return f"Skipped: {clean(answer['skipped'])}"
    if answer["pending"]:
        return f"Kept, and still to be understood: {answer['note']}"
    lines = [f"{click.style('Stored ', fg='green')}  {clean(contents[iri])}" for iri in answer["memories"]]
    lines += [f"{click.style('Retired', fg='yellow')}  {clean(contents[iri])}" for iri in answer["invalidated"]]
    lines += [f"{click.style('Against', fg='red')}  {clean(contents[iri])}" for iri in answer["contradicts"]]
    return "\n".join(lines)


def undone(contents: Mapping[str, str]) -> str:
    """What holds again, and what had retired it."""
    return (
        f"{click.style('Again  ', fg='green')}  {clean(contents['restored'])}\n"
        f"{click.style('Beside ', fg='yellow')}  {clean(contents['invalidator'])}"
    )


def sources(found: Iterable[Json]) -> str:
    """For each memory: its text, who said what when, and what made a memory of it."""
    lines = []
    for one in found:
        lines.append(click.style(clean(one["content"]), bold=True))
        lines.append(f"  {clean(one['said_by'])}, {day(one['note']['at'])}: “{clean(one['note']['content'])}”")
        by = f"by {clean(one['agent'])}" if one["agent"] else "kept as it was said"
        because = f" ({', '.join(clean(rule) for rule in one['rules'])})" if one["rules"] else ""
        lines.append(f"  {_dim(by + because)}  {_dim(one['agent_iri'] or '')}".rstrip())
    return "\n".join(lines) or "No memory came of it."


def tried(found: Sequence[Json]) -> str:
    """A line for each note: what became of it, and why."""
    lines = []
    for one in found:
        understood = one["state"] == "consolidated"  # the reason is then that of an earlier try
        why = f"  {clean(one['reason'])}" if one["reason"] and not understood else ""
        lines.append(f"{one['state']:<12}  {one['note']}{why}")
    return "\n".join(lines) or "No note is waiting."


def inferred(found: Json) -> str:
    """How many triples follow, a line for each rule with what it says, and how many contradictions there are."""
    if not found["is_complete"]:
        return "Nothing is inferred, as too much follows: raise inference.most, or state fewer axioms."
    if not found["triples"] and not found["contradictions"]:
        return "Nothing follows: state axioms in a graph of your own, as docs/inference.md says."
    from memento.graph.inference.stated import sentence

    lines = [f"{found['triples']:,} triples follow, in {found['graph']}"]
    lines += [f"{count:>9,}  {rule:<8}  {sentence(rule)}" for rule, count in sorted(found["by_rule"].items())]
    lines += [f"{found['contradictions']:>9,}  prp-fp    {sentence('prp-fp')}"] if found["contradictions"] else []
    return "\n".join(lines)


def listing(memories: Iterable[Json]) -> str:
    """A line for each memory: since when, its text, its IRI, and whether it is over."""
    lines = []
    for one in memories:
        over = _over(one)
        lines.append(f"{day(one['valid_at'])}  {clean(one['content'])}{over}\n            {_dim(one['iri'])}")
    return "\n".join(lines) or "Nothing here yet."


def timeline(found: Json) -> str:
    """A line for each memory, oldest first: from when to when, its text, and what ended it."""
    lines = [_dim(f"{found['earlier']:,} earlier ones are not shown")] if found["earlier"] else []
    for one in found["memories"]:
        wrong = " (corrected)" if one["state"] == "corrected" else ""
        lines.append(f"{day(one['valid_at'])} to {day(one['invalid_at'])}  {clean(one['content'])}{wrong}")
        if one["reason"]:
            lines.append(f"            {_dim(clean(one['reason']))}")
    return "\n".join(lines) or "Nothing is known of its history."


def described(found: Json) -> str:
    """Type, properties, and who points at it."""
    lines = [click.style(f"{found['type']} {found['iri']}", bold=True), f"  namespace: {found['namespace']}"]
    lines += [f"  {_short(name)}: {clean(value)}" for name, value in found["properties"]]
    lines += [f"  {_dim(f'← {subject} {_short(name)}')}" for subject, name in found["pointed_at_by"]]
    return "\n".join(lines)


def set_aside(found: Json | None) -> str | None:
    """How many statements cannot be read, of which nodes, and where one learns how they are mended."""
    if found is None:
        return None
    count, nodes = found["statements"], [clean(iri) for iri in found["nodes"]]
    more = f" and {len(nodes) - 3} more" if len(nodes) > 3 else ""
    said = f"{count} {'statement' if count == 1 else 'statements'} of {', '.join(nodes[:3])}{more}"
    return f"{said}: `memento check` says how they are mended"


def fields(found: Json) -> str:
    """Name and value, a line each."""
    width = max(len(name) for name in found)
    return "\n".join(f"{name.replace('_', ' '):<{width}}  {_value(value)}" for name, value in found.items())


def differences(found: Iterable[Json]) -> str:
    """A line for each difference."""
    lines = [": ".join(filter(None, (one["what"], one["iri"], clean(one["detail"])))) for one in found]
    return "\n".join(lines) or "All is well."


def content_of(found: Json) -> str:
    """The text of a described note or memory."""
    return next((str(value) for name, value in found["properties"] if name == CONTENT), str(found["iri"]))


def clean(text: str) -> str:
    """
    One line without control characters: a note must not steer the terminal of its reader.

    >>> clean("red \\x1b[31m alert\\nnow")
    'red [31m alert now'
    """
    return "".join(c for c in " ".join(text.split()) if not unicodedata.category(c).startswith("C"))


def day(at: str | None) -> str:
    """
    >>> day("2025-01-31T09:00:00Z"), day(None)
    ('2025-01-31', '?')
    """
    return at[:10] if at else "?"


def _memory(one: Json) -> Iterator[str]:
    yield f"{one['rank']:>2}. {click.style(clean(one['content']), bold=True)}  {_dim(format(one['score'], '.2f'))}"
    about = f" · about {', '.join(clean(name) for name in one['about'])}" if one["about"] else ""
    until = f" until {day(one['invalid_at'])}" if one["invalid_at"] else ""
    yield f"    since {day(one['valid_at'])}{until}{about}"
    yield f"    {_dim(one['iri'])}"
    for old in one["invalidates"]:
        yield from _replaced(old, "    ")
    if one["note"]:
        yield f"    {_dim('note ' + day(one['note']['at']) + ' “' + clean(one['note']['content']) + '”')}"


def _reasons(one: Json, ranks: Mapping[str, int]) -> Iterator[str]:
    """A bar for what each signal gives to the score, then the names that led here."""
    width = max((len(name) for name in one["why"]), default=0)
    most = max((abs(part) for part in one["why"].values()), default=1.0)
    for name, part in one["why"].items():
        bar = click.style("█" * max(round(24 * part / most), 0), fg="cyan")
        yield f"    {name:<{width}} {part:+.3f} {bar}".rstrip()
    for step in one["path"]:
        via = f"memory {ranks[step['via']]}" if step["via"] in ranks else step["via"]
        told = {
            "subject": "named in the question",
            "link": f"mentioned by {via}",
            "shared": f"shared with {via}",
            "entity": "an entity that recall started from",
        }
        yield f"    {_dim('→')} {clean(step['name'])}, {_dim(told[step['by']])}"


def _replaced(old: Json, indent: str) -> Iterator[str]:
    dates = f"{day(old['valid_at'])} to {day(old['invalid_at'])}"
    yield f"{indent}replaced: {clean(old['content'])} ({dates}; {clean(old['reason'])})"
    for older in old["invalidates"]:
        yield from _replaced(older, indent + "  ")


def _over(one: Json) -> str:
    if one.get("archived_at"):
        return _dim(f"  (archived {day(one['archived_at'])})")
    if one["expired_at"]:
        return _dim(f"  (forgotten {day(one['expired_at'])})")
    return _dim(f"  (until {day(one['invalid_at'])})") if one["invalid_at"] else ""


def _value(value: object) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case list() | tuple():
            return ", ".join(str(one) for one in value) or "none"
    return str(value)


def _short(iri: str) -> str:
    return iri.rsplit("#", 1)[-1].rsplit("/", 1)[-1]


def _dim(text: str) -> str:
    return click.style(text, dim=True)
