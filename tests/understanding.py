"""
What a sensible model would answer about short notes, for the scripted model: names are capitalised words, a sentence is a fact.

    with ScriptedModel(Understanding()) as model, opened(tmp_path, model) as memento:

Whatever a test wants to be answered otherwise it gives by the name of the question: `Understanding(resolve_memories=…)`, a
function of the request's JSON.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from conftest import OFFLINE
from memento.python import Memento, open_memento
from memento.settings import ConsolidationSettings, ModelSettings, Settings
from scripted import Asked, ScriptedModel

Json = dict[str, Any]
Answer = Callable[[Json], Any]

QUESTIONS = {
    "Entities": "extract_entities",
    "EntityChoices": "resolve_entities",
    "Guesses": "hypothesise",
    "Facts": "extract_memories",
    "MemoryChoices": "resolve_memories",
}
_NAME = re.compile(r"\b(?!USER\b|I\b|My\b|The\b)[A-Z][\w'-]*(?: [A-Z][\w'-]*)*")
_NO_MORE_THAN_ONE = ("works at", "lives in")


class Understanding:
    """The script: answers by question, and remembers which were asked."""

    def __init__(self, **otherwise: Answer) -> None:
        self.otherwise = otherwise
        self.questions: list[str] = []
        self._lock = threading.Lock()

    def __call__(self, asked: Asked) -> Any:
        question = QUESTIONS[asked.form]
        with self._lock:
            self.questions.append(question)
        return (self.otherwise.get(question) or getattr(self, question))(json.loads(asked.user))

    @staticmethod
    def extract_entities(given: Json) -> Json:
        names = [name for name in _NAME.findall(given["note"]) if not re.match(r"I['’ ]|We\b", name)]
        entities = [{"name": n, "type": "Organization", "description": "", "isWellKnown": False} for n in names]
        lives = re.search(r"\b(work at|live in) [A-Z]\w+", given["note"])
        return {"entities": entities, "userBiographicalFacts": f"USER {lives[0]}." if lives else None}

    @staticmethod
    def resolve_entities(given: Json) -> Json:
        def choice(entity: Json) -> Json:
            best = next((one for one in entity["candidates"] if one["similarity"] == 2), None)
            return {
                "id": entity["id"],
                "action": "MATCH" if best else "CREATE",
                "matchedEntityId": best and best["id"],
                "reason": "by name",
            }

        described = f"{given['userDescription']} {given['userFacts']}".strip() if given["userFacts"] else ""
        update = {"newDescription": described, "shouldUpdate": bool(described), "reason": "new"}
        return {"entities": [choice(one) for one in given["entities"]], "userDescriptionUpdate": update}

    @staticmethod
    def hypothesise(given: Json) -> Json:
        return {
            "semantic": [f"USER has a job {n}." for n in range(3)],
            "stateChange": [f"USER worked at place {n}." for n in range(3)],
        }

    @staticmethod
    def extract_memories(given: Json) -> Json:
        sentences = [s for s in re.split(r"(?<=[.!])\s+", given["note"]) if s]
        facts = [
            re.sub(r"\bmy\b", "USER's", re.sub(r"\bI (work|live|use|like)\b", r"USER \1s", s, flags=re.I), flags=re.I)
            for s in sentences
        ]
        return {
            "memories": [
                {
                    "content": re.sub(r"\bI\b", "USER", fact),
                    "aboutEntities": ["USER", *given["entities"]],
                    "validAt": None,
                }
                for fact in facts
            ]
        }

    @staticmethod
    def resolve_memories(given: Json) -> Json:
        return {"memories": [_choice(new, given["existing"]) for new in given["new"]]}


def _choice(new: Json, existing: list[Json]) -> Json:
    """The same words are a duplicate; another employer or home ends the former one."""
    same = next((one for one in existing if one["content"] == new["content"] and "until" not in one), None)
    if same:
        return {"id": new["id"], "action": "SKIP", "duplicateOf": same["id"], "reason": "the same"}
    matter = next((words for words in _NO_MORE_THAN_ONE if words in new["content"]), None)
    ends = [one for one in existing if matter and f"USER {matter}" in one["content"] and "until" not in one]
    if ends:
        endings = [{"existingMemoryId": one["id"], "reason": f"now: {new['content']}"} for one in ends]
        return {"id": new["id"], "action": "INVALIDATE", "invalidates": endings, "reason": "a change"}
    return {"id": new["id"], "action": "ADD", "reason": "new"}


def settings_for(model: ScriptedModel, **consolidation: Any) -> Settings:
    """All settings with the scripted model as the one that understands notes, and no patience."""
    return replace(
        OFFLINE,
        model=ModelSettings(
            provider="openai-compatible",
            provider_name="scripted",
            model="small",
            base_url=model.openai,
            max_retries=0,
            retry_wait_s=0.0,
            timeout_s=5.0,
            breaker_failures=1000,
        ),
        consolidation=ConsolidationSettings(**{"retries": 1, "retry_wait_s": 0.01, **consolidation}),
    )


def opened(home: Path, model: ScriptedModel, **consolidation: Any) -> Memento:
    """A memory whose notes the scripted model understands."""
    memento = open_memento(home / "home", configured=settings_for(model, **consolidation))
    assert isinstance(memento, Memento)
    return memento


def contents(memento: Memento, *, past: bool = False) -> set[str]:
    return {one.content for one in memento.list(limit=100, past=past)}
