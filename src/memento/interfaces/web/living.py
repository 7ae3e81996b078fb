"""REST for what use and time make of memories: their numbers, feedback, associations, fading, the archive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flask import Blueprint, Response

from memento.codec import decode
from memento.errors import InputError
from memento.interfaces.web.asked import Parameters, json_object, memory, namespace
from memento.interfaces.web.rest import answered


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What is to lead to what."""

    source: str
    target: str
    relation: str = "similar"
    weight: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeds:
    """Where activation begins, and how it spreads."""

    seeds: tuple[str, ...]
    steps: int = 3
    decay: float = 0.85
    threshold: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """How fast energies fade."""

    half_life_days: float | None = None


class LivingRest:
    """The addresses of living memory below `/memory`."""

    def blueprint(self) -> Blueprint:
        """The routes; the fixed ones win over an IRI."""
        routes = Blueprint("living", __name__, url_prefix="/memory")
        routes.post("/associations")(self.associate)
        routes.post("/activate")(self.activate)
        routes.post("/decay")(self.decay)
        routes.post("/archive")(self.archive)
        routes.get("/<path:iri>/strength")(self.strength)
        routes.post("/<path:iri>/feedback")(self.feedback)
        routes.get("/<path:iri>/trace")(self.trace)
        routes.post("/<path:iri>/unarchive")(self.unarchive)
        return routes

    def strength(self, iri: str) -> Response:
        """The numbers of a memory now."""
        Parameters()
        return answered(memory().strength(iri, namespace=namespace()))

    def feedback(self, iri: str) -> Response:
        """Say that a memory helped, or that it misled."""
        Parameters()
        body = json_object("helped", "namespace")
        if "helped" not in body.fields:
            raise InputError('helped is missing: say {"helped": true}, or false where the memory misled')
        helped = body.flag("helped", default=True)
        return answered(memory().feedback(iri, helped=helped, namespace=body.text("namespace") or namespace()))

    def associate(self) -> Response:
        """Let one memory lead to another, or more strongly."""
        Parameters()
        body = json_object("source", "target", "relation", "weight", "namespace")
        for end in ("source", "target"):
            body.required(end)
        link = decode(Link, _given(body.fields))
        made = memory().associate(
            link.source,
            link.target,
            relation=link.relation,
            weight=link.weight,
            namespace=body.text("namespace") or namespace(),
        )
        return answered(made, 201)

    def trace(self, iri: str) -> Response:
        """The paths over associations that lead away from a memory."""
        depth = Parameters("depth").number("depth")
        return answered(memory().trace(iri, depth=2 if depth is None else depth, namespace=namespace()))

    def activate(self) -> Response:
        """The memories that activation reaches from some."""
        Parameters()
        body = json_object("seeds", "steps", "decay", "threshold", "namespace")
        if not isinstance(body.fields.get("seeds"), list):
            raise InputError('seeds must be a list of memories such as {"seeds": ["urn:memento:memory:…"]}')
        told = decode(Seeds, _given(body.fields))
        found = memory().activate(
            told.seeds,
            steps=told.steps,
            decay=told.decay,
            threshold=told.threshold,
            namespace=body.text("namespace") or namespace(),
        )
        return answered(found)

    def decay(self) -> Response:
        """Let the energies of the namespace fade up to now."""
        Parameters()
        body = json_object("half_life_days", "namespace")
        days = decode(Span, _given(body.fields)).half_life_days
        return answered(memory().decay(half_life_days=days, namespace=body.text("namespace") or namespace()))

    def archive(self) -> Response:
        """Let memories come back no more that have no energy left."""
        Parameters()
        body = json_object("dry_run", "namespace")
        dry_run = body.flag("dry_run", default=False)
        return answered(memory().archive(dry_run=dry_run, namespace=body.text("namespace") or namespace()))

    def unarchive(self, iri: str) -> Response:
        """Bring an archived memory back."""
        Parameters()
        body = json_object("namespace")
        return answered(memory().unarchive(iri, namespace=body.text("namespace") or namespace()))


def _given(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if name != "namespace" and value is not None}
