"""Format answers of the service as text for people. Only `click` is imported, so that a recall starts quickly."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import click

Json = Mapping[str, Any]

SHELL_WORDS: Mapping[str, str] = {
    "as lists show them": "as `memento list` shows them",
    "the status lists": "`memento status` lists",
    "`update` takes it": "`memento graph update` takes it",
    "send it to /sparql/update": "`memento graph update` takes it",
    "send it to the graph store": "store it with `memento graph put`",
    "choose another folder": "choose another with --home",
}
"""What messages say at every interface, and what that is in the shell."""


def use_shell_words(message: str) -> str:
    """Replace what a message says at every interface by what that is in the shell."""
    for said, in_shell in SHELL_WORDS.items():
        message = message.replace(said, in_shell)
    return message


def show_recollection(found: Json) -> str:
    """Show rank, score and content of each memory, with its dates, what it is about, what it replaced, and its note."""
    notice = [click.style(clean(use_shell_words(one)), fg="red") for one in (found["degraded"], found["notice"]) if one]
    rest = [_count_left_out(found["left_out"])] if found["left_out"] else []
    rest += [
        f"{dim('cut')} {one['relevance']:.2f} {clean(one['text']) or one['iri']}: {dim(one['reason'])}"
        for one in found["cut"]
    ]
    if found["nearest"]:
        near = [line for memory in found["nearest"] for line in _memory(memory)]
        return "\n".join([*notice, "Nothing told about this. Nearest:", *near, *rest])
    if not found["memories"]:
        nothing = "Nothing relevant comes to mind." if found["gated"] else "Nothing comes to mind."
        return "\n".join([*notice, nothing, *rest])
    ranks = {memory["iri"]: memory["rank"] for memory in found["memories"]}
    lines = notice + [line for memory in found["memories"] for line in (*_memory(memory), *_reasons(memory, ranks))]
    lines += [f"Linked to {ranks[one['of']]}: {_relation(one)}" for one in found["related"]]
    lines += rest
    return "\n".join([*lines, "", found["sparql"].rstrip()] if found["sparql"] else lines)


def _count_left_out(count: int) -> str:
    return dim(f"{count} more {'memory' if count == 1 else 'memories'} left out: the budget is full")


def show_forgotten(answer: Json) -> str:
    """Show how many memories were forgotten, and which notes still contain what was erased."""
    count = len(answer["memories"])
    said = f"{'Erased' if answer['erased'] else 'Hid'} {count} {'memory' if count == 1 else 'memories'}."
    if answer["claims"]:
        return "The claim is believed no more; its memory stays. `memento unforget IRI` brings it back."
    notes = [
        f"Note {iri} still contains it, because other memories come from it: erase it with `memento forget --erase {iri}`."
        for iri in answer["still_told"]
    ]
    if count and not answer["erased"]:
        notes.append("It is hidden, not deleted: `memento unforget IRI` brings it back.")
    if receipt := answer.get("receipt"):
        notes.append(f"Receipt {receipt['iri']}: by {receipt['by']} at {receipt['at']}, SHA-256 {receipt['digest']}.")
    return "\n".join([said, *notes])


def show_profile(answer: Json) -> str:
    """Show what a namespace is mostly about: the summary line, then the counts it was made from."""
    kinds = ("tags", "entities", "files", "functions", "packages", "languages")
    rows = [
        f"{kind}: {', '.join(f'{clean(name)} ({count})' for name, count in answer[kind].items())}"
        for kind in kinds
        if answer[kind]
    ]
    decisions = [f"- {clean(text)}" for text in answer["decisions"]]
    return "\n".join([answer["line"], "", *rows, *(["decisions:", *decisions] if decisions else [])])


def show_reply(answer: Json) -> str:
    """Show the model's answer, then the memories it was given."""
    said = [str(answer["answer"]), ""] if answer.get("answer") else [*answer["remarks"]]
    memories = [f"- {clean(one['content'])}" for one in answer["memories"]["memories"]]
    return "\n".join([*said, *(memories or ["No memory answers this."])])


def show_unforgotten(answer: Json) -> str:
    """Show which memories can be recalled again, and which notes are pending again."""
    back = (("Again  ", (*answer["memories"], *answer["claims"])), ("Pending", answer["notes"]))
    return "\n".join(
        f"{click.style(word, fg='green')}  {clean(answer['contents'][iri])}" for word, iris in back for iri in iris
    )


def show_noted(answer: Json) -> str:
    """Show what was stored and what was retired."""
    remarks = [f"{click.style('But    ', fg='yellow')}  {clean(remark)}" for remark in answer["remarks"]]
    if skipped := answer["skipped"]:
        # A note of one sentence is skipped for the reason of that sentence: show the reason once.
        more = [
            shown
            for shown, remark in zip(remarks, answer["remarks"], strict=True)
            if not remark.endswith(f": {skipped}")
        ]
        return "\n".join([f"Skipped: {clean(skipped)}", *more])
    if answer["pending"]:
        return f"Kept, and still to be understood: {answer['note']}"
    contents = answer["contents"]
    lines = [f"{click.style('Stored ', fg='green')}  {clean(contents[iri])}" for iri in answer["memories"]]
    lines += [f"{click.style('Retired', fg='yellow')}  {clean(contents[iri])}" for iri in answer["invalidated"]]
    lines += [f"{click.style('Ended  ', fg='yellow')}  {clean(one['words'])}" for one in answer["ended"]]
    lines += [f"{click.style('Against', fg='red')}  {clean(contents[iri])}" for iri in answer["contradicts"]]
    if answer["verbatim"]:
        lines.append(f"{click.style('As said', fg='red')}  {clean(answer['verbatim'])}")
    return "\n".join([*lines, *remarks])


def show_undone(answer: Json) -> str:
    """Show the memory that is true again, and the one that had retired it."""
    contents = answer["contents"]
    return (
        f"{click.style('Again  ', fg='green')}  {clean(contents[answer['restored']])}\n"
        f"{click.style('Beside ', fg='yellow')}  {clean(contents[answer['invalidator']])}"
    )


def show_import_undone(answer: Json) -> str:
    """Show what went with an import."""
    again = f"; {answer['restored']:,} older memories hold again" if answer["restored"] else ""
    return f"{answer['notes']:,} notes with {answer['memories']:,} memories are out again{again}."


def rows(line: Callable[[Json], str], none: str, after: str = "") -> Callable[[Iterable[Json]], str]:
    """Return a view of rows: what `line` says of each, and `after` below them; `none` if there are no rows."""

    def show(found: Iterable[Json]) -> str:
        lines = [line(one).rstrip() for one in found]
        return "\n".join([*lines, *([after] if after else [])]) if lines else none

    return show


show_imports = rows(
    lambda one: (
        f"{dim(shorten_id(one['iri']))}  {day(one['at'])}  {clean(one['source'])}: {one['notes']:,} notes, "
        f"{one['memories']:,} memories"
    ),
    "Nothing was imported.",
    "`memento undo ID` takes one out again.",
)


def show_sources(found: Iterable[Json]) -> str:
    """Show for each memory its text, who said what and when, and what extracted the memory from it."""
    lines = []
    for one in found:
        lines.append(click.style(clean(one["content"]), bold=True))
        lines.append(f"  {clean(one['said_by'])}, {day(one['note']['at'])}: “{clean(one['note']['content'])}”")
        by = f"by {clean(one['agent'])}" if one["agent"] else "kept as it was said"
        because = f" ({', '.join(clean(rule) for rule in one['rules'])})" if one["rules"] else ""
        lines.append(f"  {dim(by + because)}  {dim(one['agent_iri'] or '')}".rstrip())
    return "\n".join(lines) or "No memory was made from it."


show_tags = rows(
    lambda one: f"{one['count']:>6,}  {clean(one['tag'])}  {dim(clean(one['meaning']))}", "No memory has a tag."
)


def show_marked(found: Iterable[Json]) -> str:
    """Show a line for each memory with its tags, container and importance."""
    lines = []
    for one in found:
        beside = [f"#{clean(tag)}" for tag in one["tags"]]
        beside += [f"in {clean(one['container'])}"] if one["container"] else []
        beside += [f"importance {one['importance']:.3g}"] if one["importance"] is not None else []
        lines.append(f"{clean(one['content'])}  {dim('  '.join(beside))}".rstrip())
    return "\n".join(lines)


def _describe_status(one: Json) -> str:
    # Otherwise the reason is from an earlier attempt.
    understood = one["state"] == "consolidated" and one["error"] != "NotUnderstood"
    why = f"  {clean(one['reason'])}" if one["reason"] and not understood else ""
    return f"{one['state']:<12}  {one['note']}{why}"


show_statuses = rows(_describe_status, "No note is waiting.")


show_listing = rows(
    lambda one: f"{day(one['valid_at'])}  {dim(shorten_id(one['iri']))}  {clean(one['content'])}{_over(one)}",
    "Nothing here yet.",
)


def shorten_id(iri: str) -> str:
    """
    Shorten an IRI that Memento minted to its end, which every command accepts; return any other IRI as it is.

    >>> shorten_id("urn:memento:memory:0192d5a0-7c3e-7f2a-8000-0123456789ab"), shorten_id("urn:x:1")
    ('456789ab', 'urn:x:1')
    """
    end = iri.rpartition(":")[2]
    return end[-8:] if re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", end) else iri


def show_timeline(found: Json) -> str:
    """Show a line for each memory, oldest first: when it was true, its text, and what ended it."""
    lines = [dim(f"{found['earlier']:,} earlier ones are not shown")] if found["earlier"] else []
    for one in found["memories"]:
        wrong = " (corrected)" if one["state"] == "corrected" else ""
        lines.append(f"{day(one['valid_at'])} to {day(one['invalid_at'])}  {clean(one['content'])}{wrong}")
        if one["reason"]:
            lines.append(f"            {dim(clean(one['reason']))}")
        elif one["state"] == "holds":
            lines += _show_ended(one["ended"])
    return "\n".join(lines) or "Nothing is known of its history."


def show_described(found: Json) -> str:
    """Show the type of a node, its properties, and what points at it."""
    lines = [click.style(f"{found['type']} {found['iri']}", bold=True), f"  namespace: {found['namespace']}"]
    lines += [f"  {_short(name)}: {clean(value)}" for name, value in found["properties"]]
    lines += [f"  {dim(f'← {subject} {_short(name)}')}" for subject, name in found["pointed_at_by"]]
    lines += [f"  did not end “{clean(one['words'])}”: {one['reason']}" for one in found.get("spared", ())]
    return "\n".join(lines)


def show_status(found: Json) -> str:
    """Show a line for each field, with the statements that are set aside and the state of each part in words."""
    parts = {one["part"]: _show_part(one) for one in found.get("parts", ())}
    told = {name: value for name, value in found.items() if name not in ("parts", "proxied")}
    told |= {"chat requests": _show_counts(found["proxied"])} if found.get("proxied") else {}
    of_parts = {f"{name} is": text for name, text in parts.items()}
    return show_fields({**told, "set_aside": _set_aside(found["set_aside"]), **of_parts})


def _show_counts(proxied: Mapping[str, int]) -> str:
    """Show how many requests of chat apps got their memories, and how many were forwarded without."""
    words = {
        "ok": "with memories",
        "empty": "without a relevant memory",
        "timeout": "too late for their memories",
        "error": "whose recall failed",
        "caught_up": "turns got theirs with a later turn",
    }
    return ", ".join(f"{proxied[name]:,} {said}" for name, said in words.items() if proxied.get(name))


def _show_part(part: Json) -> str:
    """Show the state of a part, then its problem or else its measurements."""
    figures = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in part["figures"].items())
    return ": ".join(filter(None, (part["state"], clean(part["detail"]) or figures)))


def show_fields(found: Json) -> str:
    """Show a line for each field: name and value."""
    width = max(len(name) for name in found)
    return "\n".join(f"{name.replace('_', ' '):<{width}}  {_show_value(value)}" for name, value in found.items())


show_tenants = rows(
    lambda one: f"{clean(one['tenant'])}: {one['statements']:,} statements", "No tenant has any statements yet."
)


show_differences = rows(
    lambda one: ": ".join(filter(None, (one["what"], one["iri"], clean(one["detail"])))), "All is well."
)


def clean(text: str) -> str:
    """
    Make one line without control characters: a note must not control the reader's terminal.

    >>> clean("red \\x1b[31m alert\\nnow")
    'red [31m alert now'
    """
    return "".join(c for c in " ".join(text.split()) if not unicodedata.category(c).startswith("C"))


def day(at: str | None) -> str:
    """
    Return the date of a timestamp.

    >>> day("2025-01-31T09:00:00Z"), day(None)
    ('2025-01-31', '?')
    """
    return at[:10] if at else "?"


def _show_ended(claims: Sequence[Json]) -> Iterator[str]:
    """Yield a line for each claim that has ended: when, its words struck through, and why."""
    for over in claims:
        why = f" ({clean(over['reason'])})" if over["reason"] else ""
        yield f"    ended {day(over['at'])}: {click.style(clean(over['words']), strikethrough=True)}{why}"


def _memory(one: Json) -> Iterator[str]:
    yield f"{one['rank']:>2}. {_content(one)}  {dim(format(one['score'], '.2f'))}"
    about = f" · about {', '.join(clean(name) for name in one['about'])}" if one["about"] else ""
    until = f" until {day(one['invalid_at'])}" if one["invalid_at"] else ""
    yield f"    since {day(one['valid_at'])}{until}{about}"
    yield f"    {dim(one['iri'])}"
    yield from _show_ended(one["ended"])
    for old in one["invalidates"]:
        yield from _show_replaced(old, "    ")
    for other in one["contradicts"]:
        yield click.style(f"    contradicted by: {clean(other['content'])}", fg="yellow")
    if one["note"]:
        place = f", piece {one['note']['piece']} of {one['note']['pieces']}" if one["note"]["piece"] else ""
        yield f"    {dim('note ' + day(one['note']['at']) + place + ' “' + clean(one['note']['content']) + '”')}"


def _content(one: Json) -> str:
    """Return the text of a memory, with the sentence that answers underlined."""
    before, answering, after = (
        one["content"].partition(one["sentence"]) if one["sentence"] else (one["content"], "", "")
    )
    parts = ((before, False), (answering, True), (after, False))
    return " ".join(click.style(clean(part), bold=True, underline=marks or None) for part, marks in parts if part)


def _reasons(one: Json, ranks: Mapping[str, int]) -> Iterator[str]:
    """Yield a bar for each signal's contribution to the score, then the names that led to the memory."""
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
        yield f"    {dim('→')} {clean(step['name'])}, {dim(told[step['by']])}"


def _show_replaced(old: Json, indent: str) -> Iterator[str]:
    dates = f"{day(old['valid_at'])} to {day(old['invalid_at'])}"
    yield f"{indent}replaced: {clean(old['content'])} ({dates}; {clean(old['reason'])})"
    for older in old["invalidates"]:
        yield from _show_replaced(older, indent + "  ")


def _set_aside(found: Json | None) -> str | None:
    """Say how many statements cannot be read, of which nodes, and which command says how to repair them."""
    if found is None:
        return None
    count, nodes = found["statements"], [clean(iri) for iri in found["nodes"]]
    more = f" and {len(nodes) - 3} more" if len(nodes) > 3 else ""
    said = f"{count} {'statement' if count == 1 else 'statements'} of {', '.join(nodes[:3])}{more}"
    return f"{said}: `memento care check` says how to repair them"


def _over(one: Json) -> str:
    if one.get("archived_at"):
        return dim(f"  (archived {day(one['archived_at'])})")
    if one["expired_at"]:
        return dim(f"  (forgotten {day(one['expired_at'])})")
    return dim(f"  (until {day(one['invalid_at'])})") if one["invalid_at"] else ""


def _show_value(value: object) -> str:
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


def dim(text: str) -> str:
    return click.style(text, dim=True)


def show_redacted(answer: Json) -> str:
    """Return a line that says how many secrets were redacted; empty if there were none."""
    if not answer["redacted"]:
        return ""
    from memento.intake.redaction import describe_counts

    return f"\n{describe_counts(answer['redacted'])}."


show_proposals = rows(
    lambda one: (
        f"{one['id']}  {one['at'][:16].replace('T', ' ')}  {clean(one['speaker'] or 'user')} in "
        f"{clean(one['session'] or one['client'])}\n    {clean(one['content'])}"
    ),
    "No proposal waits for a decision.",
)


def show_disputes(found: Iterable[Json]) -> str:
    """Show pairs of memories that contradict each other, surely or likely: both with IRI and start date, and why."""
    lines: list[str] = []
    for one in found:
        sure = "contradiction" if one["confidence"] >= 1 else f"likely rivals, {one['confidence']:.0%}"
        lines.append(f"{sure}: {clean(one['reason'])}" if one["reason"] else sure)
        for iri, content, since in zip((one["one"], one["other"]), one["contents"], one["since"], strict=True):
            lines += [f"  {day(since)}  {clean(content)}", f"              {dim(iri)}"]
    if not lines:
        return "Nothing is in dispute."
    return "\n".join([*lines, "`memento care settle KEPT ENDED` keeps one and ends the other."])


def show_decided(answer: Json) -> str:
    """Show how proposals were decided."""
    lines = [f"{len(answer['decided']):,} proposals decided, {answer['memories']:,} memories stored."]
    lines += [f"{clean(id)}: no such proposal is waiting." for id in answer["unknown"]]
    return "\n".join(lines)


show_log = rows(
    lambda one: f"{one['timestamp'][:19]}  {one['kind']:8}  {one['id']}  {one['error'] or ''}",
    "Nothing waits to be written.",
)


def show_upgraded(answer: Json) -> str:
    """Show how many memories were read, and where the backup is."""
    kept = f" The backup of before is {answer['backup']}." if answer["backup"] else ""
    return f"{answer['memories']:,} memories read.{kept}"


def show_migration(answer: Mapping[str, Any]) -> str:
    """Show the old and the new embedder, how many texts were embedded, and where the backup is."""
    sizes = f"{answer['dimensions_before']} → {answer['dimensions_after']} dimensions"
    move = f"{answer['before']} → {answer['after']} ({sizes})"
    resumed = f"; {answer['resumed']:,} were already" if answer["resumed"] else ""
    if answer["dry_run"]:
        return f"{move}: {answer['embedded']:,} of {answer['texts']:,} texts would be embedded{resumed}. Nothing was changed."
    if answer["backup"] is None:
        return f"The memory has the vectors of {answer['after']} already."
    return f"{move}: {answer['embedded']:,} of {answer['texts']:,} texts embedded{resumed}. Backup: {answer['backup']}"


def _relation(one: Json) -> str:
    way = {"out": "→", "in": "←", "both": "↔"}[one["way"]]
    strength = "    " if one["strength"] is None else f"{one['strength']:.2f}"
    return f"{strength} {way} {clean(one['relation'])}: {clean(one['content'])}  {dim(one['memory'])}"


show_relations = rows(_relation, "Nothing is related to it.")


def show_compacted(answer: Json) -> str:
    """Show the effect of a compaction as a diff, with a line for each memory that it removes."""
    signs = {"merged": "~", "expired": "-", "evicted": "-"}
    lines = []
    for one in answer["changes"]:
        into = f"\n  + {clean(one['into_content'] or '')}" if one["into"] else ""
        why = dim(f"{one['why']}: {one['detail']}  {one['memory']}")
        lines.append(f"{signs[one['why']]} {clean(one['content'])}  {why}{into}")
    if answer["more"]:
        lines.append(dim(f"and {answer['more']:,} more"))
    counts = f"{answer['expired']:,} expired, {answer['merged']:,} merged, {answer['evicted']:,} evicted"
    left = f"{answer['remaining']:,} of {answer['total']:,} memories remain"
    lines.append(f"{_COMPACTED[answer['stage']]}: {counts}; {left}.")
    if answer["alike"]:
        lines.append(dim(f"{answer['alike']:,} pairs are alike but do not say the same: both stay."))
    if answer["branch"] and answer["stage"] != "undone":
        way = "--branch" if answer["stage"] == "staged" else "--undo --branch"
        lines.append(dim(f"memento care compact {way} {answer['branch']}"))
    return "\n".join(lines)


_COMPACTED = {"staged": "Would go", "applied": "Compacted", "undone": "Brought back"}
