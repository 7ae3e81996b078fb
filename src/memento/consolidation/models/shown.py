"""
What a model is shown: JSON with short ids, and the way back from those ids.

*Because:* a model copies `m3` without a fault and a 50-character IRI with some; and an id that was never shown means nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from memento.consolidation.agents import USER, Candidate, Draft, Existing, Mention
from memento.model import Note, User
from memento.time import iso


def named(prefix: str, place: int) -> str:
    """
    >>> named("m", 0)
    'm1'
    """
    return f"{prefix}{place + 1}"


def note_alone(note: Note, user: User) -> str:
    return _json({"note": note.content, **_user(user)})


def entities(mentions: Sequence[tuple[Mention, Sequence[Candidate]]], biography: str | None, user: User) -> str:
    """Entities are e1, e2, …; the candidates of e1 are e1.1, e1.2, …"""
    shown = [
        {
            "id": named("e", place),
            "name": mention.name,
            "type": mention.kind,
            "description": mention.description,
            "candidates": [
                {
                    "id": f"{named('e', place)}.{number}",
                    "name": candidate.entity.name,
                    "type": candidate.entity.kind,
                    "description": candidate.entity.description,
                    "similarity": round(candidate.similarity, 2),
                }
                for number, candidate in enumerate(candidates, start=1)
            ],
        }
        for place, (mention, candidates) in enumerate(mentions)
    ]
    return _json({"entities": shown, "userFacts": biography, "userDescription": user.description})


def memories(found: Sequence[Existing]) -> str:
    return _json({"memories": [_existing(one) for one in found]})


def note_with_names(note: Note, mentions: Sequence[Mention], user: User) -> str:
    at = f"{iso(note.at)} ({note.at:%A})"
    return _json({"note": note.content, "at": at, "entities": [mention.name for mention in mentions], **_user(user)})


def comparison(drafts: Sequence[Draft], existing: Sequence[Existing], note: Note) -> str:
    """New facts are n1, n2, …; existing ones m1, m2, …"""
    new = [
        {
            "id": named("n", place),
            "content": draft.content,
            "about": list(draft.about),
            "since": iso(draft.valid_at or note.at),
        }
        for place, draft in enumerate(drafts)
    ]
    known = [{"id": named("m", place), **_existing(one)} for place, one in enumerate(existing)]
    return _json({"at": iso(note.at), "new": new, "existing": known})


def _existing(one: Existing) -> dict[str, Any]:
    until = {"until": iso(one.memory.invalid_at)} if one.memory.invalid_at else {}
    return {"content": one.memory.content, "about": list(one.about), "since": iso(one.memory.valid_at), **until}


def _user(user: User) -> dict[str, str]:
    """The name, when it is known and says something."""
    return {} if not user.name or user.name.casefold() == USER.casefold() else {"user": user.name}


def _json(shown: dict[str, Any]) -> str:
    return json.dumps(shown, ensure_ascii=False, indent=1)


def with_objection(asked: str, contents: Sequence[str]) -> str:
    """The same question once more, with what was wrong about the last answer."""
    told = json.loads(asked)
    told["rejected"] = list(contents)
    told["because"] = (
        "each of these has a name, a number or a date that the note does not have: use the note's own words"
    )
    return json.dumps(told, ensure_ascii=False)
