"""Answer the operations on sessions and profiles, and questions that a model answers from memories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from memento import assets
from memento.consolidation.amend import settle_dispute
from memento.errors import InputError, ModelError, NotFound
from memento.iris import IRI
from memento.llm import Chat, Prompt, chats_of
from memento.model import Preview, Profile, Replied, Scope, SessionBundle, SessionSummary
from memento.operations import find_operation
from memento.operations import sessions as operations
from memento.operations.recall import Recall
from memento.overview import (
    MOST_CHARS,
    Told,
    find_session,
    plan_summary,
    summarise_extractively,
)
from memento.rank import age_importance
from memento.retrieval.render import as_list
from memento.service.context import Context, find_handler, handles
from memento.service.handlers.recall import peek
from memento.service.handlers.recall import recall as recall_memories
from memento.text.sentences import shorten_line

_PREVIEW = 300
"""Maximum characters of a memory in a bundle."""
_GROUPS = (("decision", "decisions"), ("architecture", "architecture"), ("error", "errors"))
"""A tag, and the group of the memories that have it; the first that fits counts."""
_LATEST = 2_000
"""How many of the latest memories are considered for the most important ones, if a session starts without a query."""
_S_A_DAY = 86_400.0


@handles(operations.StartSession)
def start_session(operation: operations.StartSession, context: Context) -> SessionBundle:
    """Gather the memories that a session starts from."""
    scope, is_new = context.scope(operation.namespace), False
    if operation.folder is not None:
        try:
            index = find_operation("index_project")(operation.folder, namespace=operation.namespace)
            handler = find_handler(type(index), context.settings)
        except NotFound as error:
            raise InputError(f"folder cannot be given: {error}") from error
        indexed = handler(index, context)
        is_new = bool(indexed.fresh)
    if operation.query is None:
        found = _list_important(operation.limit, scope, context)
    else:
        asked = Recall(operation.query, k=operation.limit, namespace=operation.namespace)
        found = [(one.iri, one.content) for one in peek(asked, context).memories]
    groups = _group_previews(found, scope, context)
    profile = context.service.profiles.get_profile(scope)
    states = context.stores.graph.select("library/waiting", scope.memory_graphs)
    waiting = sum(int(str(row["count"])) for row in states if row["state"] == "pending")
    return SessionBundle(
        namespace=scope.namespace,
        profile=profile.line,
        **groups,
        text=_write_bundle(profile, groups),
        indexed=is_new,
        waiting=waiting,
    )


def _list_important(limit: int, scope: Scope, context: Context) -> list[tuple[IRI, str]]:
    """List the current memories by importance reduced by age, highest first, and the latest first among equals."""
    at = context.stores.clock()
    latest = context.stores.indexes.list_newest(scope.memory_graphs, at, most=_LATEST)
    days = (at.timestamp() - latest.written) / _S_A_DAY
    worth = [
        age_importance(importance, max(age, 0.0))
        for importance, age in zip(latest.importance.tolist(), days.tolist(), strict=True)
    ]
    chosen = [latest.iris[place] for place in np.argsort(-np.array(worth), kind="stable")[:limit]]
    texts = _read_texts(chosen, scope, context)
    return [(iri, texts[iri]) for iri in chosen if iri in texts]


def _read_texts(memories: Sequence[IRI], scope: Scope, context: Context) -> dict[IRI, str]:
    rows = context.stores.graph.select("search/texts", scope.readable, memory=list(memories)) if memories else []
    return {row["memory"]: str(row["content"]) for row in rows}


def _group_previews(found: Sequence[tuple[IRI, str]], scope: Scope, context: Context) -> dict[str, tuple[Preview, ...]]:
    groups: dict[str, list[Preview]] = {name: [] for name in (*(name for _, name in _GROUPS), "other")}
    listed = preview_memories(found, scope, context, _PREVIEW)
    for one in listed:
        name = next((name for tag, name in _GROUPS if tag in one.tags), "other")
        groups[name].append(one)
    return {name: tuple(previews) for name, previews in groups.items()}


def preview_memories(found: Sequence[tuple[IRI, str]], scope: Scope, context: Context, most: int) -> list[Preview]:
    """Return the beginnings of some memories, with their tags and valid times."""
    iris = [iri for iri, _ in found]
    rows = context.stores.graph.select("library/sorted", scope.readable, memory=iris) if iris else []
    known = {row["memory"]: row for row in rows}
    return [
        Preview(
            id=iri,
            preview=shorten_line(content, most),
            tags=tuple(sorted(filter(None, str(known[iri].get("tags", "")).split("\n")))),
            timestamp=known[iri]["validAt"],
        )
        for iri, content in found
        if iri in known
    ]


def _write_bundle(profile: Profile, groups: dict[str, tuple[Preview, ...]]) -> str:
    titles = {"decisions": "Decisions", "architecture": "Architecture", "errors": "Recent errors", "other": "Other"}
    lines = [profile.line]
    for name, title in titles.items():
        if groups[name]:
            lines += ["", f"## {title}", *(f"- {one.preview} ({one.timestamp.date()})" for one in groups[name])]
    return "\n".join(lines)


@handles(operations.SummarizeSession)
def summarize_session(operation: operations.SummarizeSession, context: Context) -> SessionSummary:
    """Summarise a session, and store the summary as a memory."""
    scope, stores, service = context.scope(operation.namespace, "write"), context.stores, context.service
    told = find_session(operation.session, scope, stores)
    text, model, remarks = _word_summary(told, operation.by_model, context)
    stores.embedder.embed(stores.embedder.windows(text))  # before the lock is taken
    with service.writing:
        service.reinforcement.write_held()
        told = find_session(told.name, scope, stores)
        memory, change = plan_summary(told, text, scope, stores.clock())
        stores.commit(change, scope)
        for old in told.before:
            settle_dispute(memory, old, scope, stores, reason=f"The session {told.name} was summed up again")
    service.maps.record(scope, f"summed up the session {told.name}", memory)
    return SessionSummary(
        id=memory,
        session=told.name,
        summary=text,
        members=tuple(iri for iri, _ in told.members),
        model=model,
        replaced=told.before[0] if told.before else None,
        remarks=remarks,
    )


def _word_summary(told: Told, by_model: bool, context: Context) -> tuple[str, str | None, tuple[str, ...]]:
    """Return a model's summary and its name, or the beginnings of the memories; and the error of a configured model that failed."""
    usual = summarise_extractively(told)
    with _open_chat(context) as chat:
        if chat is None or not by_model:
            return usual, None, ()
        lines = "\n".join(f"- {content}" for _, content in told.members)
        try:
            words = _ask_model(chat, "summarise", f"Session: {told.name}\n\nMemories, in their order:\n{lines}")
        except ModelError as error:
            return usual, None, (f"the model gave no summary: {error}",)
        return words[:MOST_CHARS], chat.name, ()


@handles(operations.Profile)
def profile(operation: operations.Profile, context: Context) -> Profile:
    """Return the cached profile, or count again."""
    scope, profiles = context.scope(operation.namespace), context.service.profiles
    if not operation.regenerate:
        return profiles.get_profile(scope)
    is_writer = context.access.may("write") and not context.service.degraded and not context.stores.graph.failure
    return profiles.regenerate(scope, writes=is_writer)


@handles(operations.Ask)
def answer_question(operation: operations.Ask, context: Context) -> Replied:
    """Recall, and let a model write the answer."""
    found = recall_memories(Recall(operation.question, k=operation.limit, namespace=operation.namespace), context)
    if not operation.answer:
        return Replied(memories=found)
    with _open_chat(context) as chat:
        if chat is None:
            return Replied(memories=found)
        user = f"Question: {found.query}\n\nMemories:\n{as_list(found)}"
        try:
            return Replied(memories=found, answer=_ask_model(chat, "answer", user), model=chat.name)
        except ModelError as error:
            return Replied(memories=found, remarks=(f"the model gave no answer: {error}",))


@contextmanager
def _open_chat(context: Context) -> Iterator[Chat | None]:
    """Yield the model that writes answers and summaries, if one is configured."""
    chats = chats_of(context.settings.model)
    try:
        yield chats.get("answer")
    finally:
        for chat in chats.values():
            chat.close()


def _ask_model(chat: Chat, prompt: str, user: str) -> str:
    """Return a model's response to one of the prompts; raises `ModelError`."""
    from pydantic import create_model  # takes longer to import than everything else

    form = create_model("Words", text=(str, ...))

    def complain(words: object) -> str | None:
        return None if str(getattr(words, "text", "")).strip() else "Give the words in text."

    reply = chat.answer(Prompt(system=assets.read_prompt(prompt), user=user), form, complain)
    return str(getattr(reply.value, "text", "")).strip()
