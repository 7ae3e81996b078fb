"""
What keys learn from questions that led over them: a phrase as another name, or a key of its own; and what they unlearn.

A question that is nearly the key becomes its name; one that is only like it, a concept that leads to the same memory; one that was
nearly missed, a name again, as it keeps being meant.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import cast

from memento.backends import Backends
from memento.graph.mapping import quads
from memento.iris import IRI, MEM, TYPE, learned_iri, link_iri, mint
from memento.keys.leads import Lead
from memento.keys.remember import Desk
from memento.keys.trail import Lesson
from memento.model import Change, Counted, Effect, Key, KeyLink, Quad, Scope
from memento.search.spellings import folded
from memento.settings import KeysSettings


def learned(lesson: Lesson, lead: Lead, memory: IRI, desk: Desk, knobs: KeysSettings) -> Change:
    """What is to be written when a key has a lesson; nothing where something goes by the phrase already, or the key is full."""
    if lead.is_named or lead.node is None or desk.leads.called(lesson.phrase) is not None:
        return Change()
    if desk.parts.indexes.nodes.graph(lead.node) != desk.scope.graph:
        return Change()
    if desk.limits.auto_link <= lesson.likeness < desk.limits.merge:
        return _new(lesson.phrase, lesson.likeness, memory, desk)
    if lesson.likeness < knobs.autokey_floor:
        return Change()
    known = desk.parts.graph.select("search/statements", [desk.scope.graph], node=lead.iri)
    if sum(row["predicate"] == MEM.alias for row in known) >= knobs.autokey_aliases:
        return Change()
    graph, phrase = desk.scope.graph, learned_iri(lead.iri, folded(lesson.phrase))
    adds: list[Quad] = [
        *desk.settling().key(lead),
        (lead.iri, MEM.alias, lesson.phrase, graph),
        (phrase, TYPE, MEM.LearnedPhrase, graph),
        (phrase, MEM["from"], lead.iri, graph),
        (phrase, MEM.alias, lesson.phrase, graph),
        (phrase, MEM.createdAt, desk.now, graph),
    ]
    return Change(tuple(adds))


def counted(key: IRI, phrase: str, scope: Scope, parts: Backends) -> list[Effect]:
    """That a phrase which a key has learned was of use; nothing when it is one of its other names."""
    node = learned_iri(key, folded(phrase))
    is_learned = parts.graph.select("search/statements", [scope.graph], node=node)
    return [Counted(node=node, graph=scope.graph)] if is_learned else []


def unlearned(desk: Desk, days: float) -> tuple[Change, int]:
    """What lets go of the phrases that nobody has used for so many days, and how many they are."""
    graph, old = desk.scope.graph, desk.now - timedelta(days=days)
    removes: list[Quad] = []
    count = 0
    for row in desk.parts.graph.select("keys/learned", [graph]):
        if row.get("uses") or cast(datetime, row["at"]) > old:
            continue
        count += 1
        learned = cast(IRI, row["learned"])
        said = desk.parts.graph.select("search/statements", [graph], node=learned)
        removes += [(learned, cast(IRI, one["predicate"]), one["value"], graph) for one in said]
        removes.append((cast(IRI, row["key"]), MEM.alias, row["phrase"], graph))
    return Change((), tuple(removes)), count


def _new(phrase: str, weight: float, memory: IRI, desk: Desk) -> Change:
    key = Key(iri=mint("key"), name=phrase, type="concept", created_at=desk.now)
    link = KeyLink(
        iri=link_iri(key.iri, memory), key=key.iri, memory=memory, weight=round(weight, 4), created_at=desk.now
    )
    return Change((*quads(key, desk.scope.graph), *quads(link, desk.scope.graph)))
