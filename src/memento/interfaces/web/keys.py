"""REST for the key graph: one address for each method of the service that walks over keys or leaves texts under them."""

from __future__ import annotations

from dataclasses import dataclass, fields

from flask import Blueprint, Response

from memento.codec import decode
from memento.errors import InputError
from memento.interfaces.web.asked import Parameters, json_object, memory, namespace
from memento.interfaces.web.rest import answered
from memento.model import ToRemember

ITEM = ("content", "keys", "types", "ttl_s", "related_to", "session", "source")


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What direct recall takes beside its question."""

    k: int = 5
    hops: int = 2
    expand: bool = False
    least_share: float = 0.0
    least_depth: float = 0.0
    min_score: float | None = None
    gate_z: float | None = None
    key_gate: float | None = None


NUMBERS = tuple(item.name for item in fields(Numbers))


class KeyRest:
    """The addresses of keys below `/memory`."""

    def blueprint(self) -> Blueprint:
        """The routes; the fixed ones win over an IRI."""
        routes = Blueprint("keys", __name__, url_prefix="/memory")
        routes.get("/keys")(self.find_keys)
        routes.post("/keys/recall")(self.recall_memories)
        routes.get("/keys/<path:iri>")(self.read_key)
        routes.post("/remember")(self.remember)
        routes.post("/remember/batch")(self.remember_batch)
        routes.get("/memories")(self.list_memories)
        routes.get("/conversation")(self.conversation)
        routes.get("/stats")(self.memory_stats)
        routes.post("/cleanup")(self.cleanup_expired)
        routes.post("/<path:iri>/read")(self.read_memory)
        routes.get("/<path:iri>/related")(self.related)
        return routes

    def find_keys(self) -> Response:
        """The keys that a question leads to."""
        asked = Parameters("query", "q", "k")
        query, k = asked.text("query", "q"), asked.number("k")
        if query is None:
            raise InputError("query is missing or empty: ask for something (here query=apple)")
        return answered(memory().find_keys(query, k=8 if k is None else k, namespace=namespace()))

    def read_key(self, iri: str) -> Response:
        """A page of the memories that a key leads to, without their text."""
        asked = Parameters("query", "limit", "offset")
        limit = asked.number("limit")
        return answered(
            memory().read_key(
                iri,
                query=asked.text("query"),
                limit=10 if limit is None else limit,
                offset=asked.number("offset") or 0,
                namespace=namespace(),
            )
        )

    def read_memory(self, iri: str) -> Response:
        """A memory in full, with the keys that lead on; it grows deeper."""
        Parameters()
        body = json_object("via", "past", "namespace")
        return answered(
            memory().read_memory(
                iri,
                via=body.text("via"),
                past=body.flag("past", default=False),
                namespace=body.text("namespace") or namespace(),
            )
        )

    def related(self, iri: str) -> Response:
        """The memories that share keys with one, or were linked to it."""
        Parameters()
        return answered(memory().related(iri, namespace=namespace()))

    def remember(self) -> Response:
        """Keep a text under some keys; 201 when it is new."""
        Parameters()
        body = json_object(*ITEM, "namespace")
        item = _item({name: value for name, value in body.fields.items() if name != "namespace"})
        done = memory().remember(
            item.content,
            item.keys,
            types=item.types,
            ttl_s=item.ttl_s,
            related_to=item.related_to,
            session=item.session,
            source=item.source,
            namespace=body.text("namespace") or namespace(),
        )
        return answered(done, 200 if done.repeated else 201)

    def remember_batch(self) -> Response:
        """Keep several texts; what became of each."""
        Parameters()
        body = json_object("items", "namespace")
        items = body.fields.get("items")
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise InputError('items must be a list of objects such as {"content": "…", "keys": ["…"]}')
        given = [_item(item) for item in items]
        return answered(memory().remember_batch(given, namespace=body.text("namespace") or namespace()))

    def recall_memories(self) -> Response:
        """The memories for a question at once, over keys; where the setting allows it."""
        Parameters()
        body = json_object("query", *NUMBERS, "namespace")
        told = decode(Numbers, {n: v for n, v in body.fields.items() if n in NUMBERS and v is not None})
        return answered(
            memory().recall_memories(
                body.required("query"),
                k=told.k,
                hops=told.hops,
                expand=told.expand,
                least_share=told.least_share,
                least_depth=told.least_depth,
                min_score=told.min_score,
                gate_z=told.gate_z,
                key_gate=told.key_gate,
                namespace=body.text("namespace") or namespace(),
            )
        )

    def list_memories(self) -> Response:
        """A page of the memories, the latest first, with their keys."""
        asked = Parameters("limit", "offset")
        limit = asked.number("limit")
        return answered(
            memory().list_memories(
                limit=50 if limit is None else limit, offset=asked.number("offset") or 0, namespace=namespace()
            )
        )

    def conversation(self) -> Response:
        """What was said in a session."""
        asked = Parameters("session", "turn")
        session = asked.text("session")
        if session is None:
            raise InputError("session is missing: ask as /memory/conversation?session=monday")
        return answered(memory().conversation(session, turn=asked.number("turn"), namespace=namespace()))

    def memory_stats(self) -> Response:
        """Counts of keys, links and memories."""
        Parameters()
        return answered(memory().memory_stats(namespace=namespace()))

    def cleanup_expired(self) -> Response:
        """Let go of what is over."""
        Parameters()
        body = json_object("namespace")
        return answered(memory().cleanup_expired(namespace=body.text("namespace") or namespace()))


def _item(given: dict[str, object]) -> ToRemember:
    for name in given:
        if name not in ITEM:
            raise InputError(f"unknown field {name[:80]!r}: an item has {', '.join(ITEM)}")
    return decode(ToRemember, {name: value for name, value in given.items() if value is not None})
