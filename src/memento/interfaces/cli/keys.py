"""The commands over the key graph: walk it in the terminal, or step by step; leave a text under keys."""

from __future__ import annotations

import json
from typing import Any

import click

from memento.interfaces.cli import walked
from memento.interfaces.cli.commands import text_of
from memento.interfaces.cli.door import command, common, main, printed
from memento.interfaces.cli.opened import Chosen, ask, opened
from memento.interfaces.cli.walk import Walk

TYPES = click.Choice(["concept", "name", "proper_noun"])


@command("walk")
@click.argument("query", required=False)
@click.option("-k", type=click.IntRange(1, 20), default=8, show_default=True, help="Most keys to show.")
def walk(chosen: Chosen, query: str | None, k: int) -> None:
    """Walk from QUERY to keys, from a key to memories, from a memory to further keys; asks at each step where to go."""
    with opened(chosen, "walk") as memento:
        if chosen.as_json:
            click.echo(json.dumps(ask(memento, "find_keys", query=query or "", k=k), ensure_ascii=False))
        else:
            Walk(lambda method, **given: ask(memento, method, **given), k).go(query)


@command("remember")
@click.argument("text")
@click.option(
    "--key",
    "-k",
    "keys",
    multiple=True,
    metavar="KEY",
    help="May be repeated; without any its own names and nouns lead to it.",
)
@click.option("--type", "types", type=(str, TYPES), multiple=True, metavar="KEY TYPE", help="A key that is a name.")
@click.option("--ttl", "ttl_s", type=float, metavar="SECONDS", help="Forget it after so long.")
@click.option("--related", "related_to", multiple=True, metavar="IRI", help="A memory to link it to; may be repeated.")
@click.option("--session", help="The conversation it belongs to.")
def remember(chosen: Chosen, text: str, keys: tuple[str, ...], types: tuple[tuple[str, str], ...], **more: Any) -> None:
    """Keep TEXT under some keys, without a model; standard input when it is -."""
    more["related_to"] = list(more["related_to"])
    with opened(chosen, "remember") as memento:
        answer = ask(memento, "remember", content=text_of(text), keys=list(keys) or None, types=dict(types), **more)
    printed(chosen, answer, lambda: walked.remembered(answer))


@main.group("keys")
def group() -> None:
    """Keys, and the memories that they lead to, one step at a time."""


@group.command("find")
@click.argument("query")
@click.option("-k", type=click.IntRange(1, 20), default=8, show_default=True, help="Most keys to show.")
@click.pass_obj
def find(chosen: Chosen, query: str, k: int) -> None:
    """The keys that QUERY leads to."""
    with opened(chosen, "keys find") as memento:
        answer = ask(memento, "find_keys", query=query, k=k)
    printed(chosen, answer, lambda: walked.keys(answer))


@group.command("open")
@click.argument("key")
@click.option("--query", help="Rank by likeness to this too.")
@click.option("--limit", type=click.IntRange(1, 50), default=10, show_default=True, help="Most memories to show.")
@click.option("--offset", type=click.IntRange(0), default=0, help="How many to pass over.")
@click.pass_obj
def open_key(chosen: Chosen, key: str, query: str | None, limit: int, offset: int) -> None:
    """Where KEY leads: an IRI as `find` shows it, or an entity's."""
    with opened(chosen, "keys open") as memento:
        answer = ask(memento, "read_key", iri=key, query=query, limit=limit, offset=offset)
    printed(chosen, answer, lambda: walked.page(answer))


@group.command("read")
@click.argument("memory")
@click.option("--via", metavar="KEY", help="The key that led here.")
@click.option("--past", is_flag=True, help="Also what was superseded or is over.")
@click.pass_obj
def read(chosen: Chosen, memory: str, via: str | None, past: bool) -> None:
    """MEMORY in full, with the keys that lead on; it grows deeper."""
    with opened(chosen, "keys read") as memento:
        answer = ask(memento, "read_memory", iri=memory, via=via, past=past)
    printed(chosen, answer, lambda: walked.memory(answer))


@group.command("related")
@click.argument("memory")
@click.pass_obj
def related(chosen: Chosen, memory: str) -> None:
    """The memories that share keys with MEMORY."""
    with opened(chosen, "keys related") as memento:
        answer = ask(memento, "related", iri=memory)
    printed(chosen, answer, lambda: walked.related(answer))


@group.command("recall")
@click.argument("query")
@click.option("-k", type=click.IntRange(1, 50), default=5, show_default=True, help="Most memories to show.")
@click.option("--hops", type=click.IntRange(1, 5), default=2, show_default=True, help="How far to go over keys.")
@click.pass_obj
def recall(chosen: Chosen, query: str, k: int, hops: int) -> None:
    """The memories for QUERY at once, over keys; where the setting keys.direct is on."""
    with opened(chosen, "keys recall") as memento:
        answer = ask(memento, "recall_memories", query=query, k=k, hops=hops)
    printed(chosen, answer, lambda: walked.direct(answer))


@group.command("list")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="Most memories to show.")
@click.option("--offset", type=click.IntRange(0), default=0, help="How many to pass over.")
@click.pass_obj
def listed(chosen: Chosen, limit: int, offset: int) -> None:
    """The memories, the latest first, with their keys."""
    with opened(chosen, "keys list") as memento:
        answer = ask(memento, "list_memories", limit=limit, offset=offset)
    printed(chosen, answer, lambda: walked.listing(answer))


@group.command("conversation")
@click.argument("session")
@click.option("--turn", type=int, help="The turns around this one, counted from 0.")
@click.pass_obj
def conversation(chosen: Chosen, session: str, turn: int | None) -> None:
    """What was said in SESSION."""
    with opened(chosen, "keys conversation") as memento:
        answer = ask(memento, "conversation", session=session, turn=turn)
    printed(chosen, answer, lambda: walked.turns(answer))


@group.command("cleanup")
@click.pass_obj
def cleanup(chosen: Chosen) -> None:
    """Let go of what is over, and of learned names that nobody used."""
    with opened(chosen, "keys cleanup") as memento:
        answer = ask(memento, "cleanup_expired")
    printed(chosen, answer, lambda: f"{answer['expired']:,} memories and {answer['phrases']:,} names let go.")


@group.command("stats")
@click.pass_obj
def stats(chosen: Chosen) -> None:
    """How many keys, memories and links there are."""
    from memento.interfaces.cli import shown

    with opened(chosen, "keys stats") as memento:
        answer = ask(memento, "memory_stats")
    printed(chosen, answer, lambda: shown.fields(answer))


for one in (find, open_key, read, related, recall, listed, conversation, cleanup, stats):
    common(one)
