"""The settings of cases, and of the tools that plans are carried out with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from memento.settings import Natural, Positive, Span, constant, knob


@dataclass(frozen=True, slots=True)
class CasesSettings:
    on: bool = knob(
        True, "keep and find cases; when off, nothing about cases is offered and stored cases stay as they are"
    )
    # Most cases to follow, and most cases to avoid, that one retrieval returns.
    k: int = constant(4)
    # Cases that are ranked: the nearest ones and those that share an entity.
    candidates: int = constant(50)
    ranking: Literal["q", "cosine"] = knob(
        "q", "what ranks cases: the cosine alone, or q, which adds the learned value as soon as there is one"
    )
    relevant_from: Annotated[float, Meta(ge=-1, le=1)] = knob(
        0.15,
        "cosine from which a case is shown, to follow or to avoid; a case that shares an entity or a tag with the task is "
        "shown whatever its cosine",
    )
    # What is added to a case's similarity when it shares all entities and tags of the task.
    context: float = constant(0.2)
    # Reward from which a case is one to follow.
    positive_from: float = constant(0.5)
    # Cosine from which a case is similar enough for its plan to be copied when no model plans.
    template_from: float = constant(0.3)
    limit: Positive = knob(10_000, "most cases kept in one domain; `prune` says which are removed")
    # Retrievals of cases kept in one domain, with what they returned; the oldest are removed.
    retrievals: int = constant(5000)
    prune: Literal["value", "oldest", "unused", "reward"] = knob(
        "value",
        "which cases are removed above the limit: those with the least value after discounting for age, those finished "
        "first, those shown least, or those with the lowest reward",
    )
    # Days after which a case counts half when the least valuable are removed.
    half_life_days: float = constant(90.0)
    # Characters of a step's texts that are kept in the graph; the packed trajectory has all of them.
    record_chars: int = constant(500)
    # Keep the whole trajectory of a finished task, gzipped, in addition to its steps.
    pack: bool = constant(True)
    # What a task that cost nothing adds to its reward; the more it cost, the less it adds.
    efficiency_bonus: float = constant(0.1)
    # Weight of a judge's score in a reward; the outcome weighs 1.
    judge_weight: float = constant(0.5)
    # Pairs with a reward, high and low together, before Q takes part in the ranking.
    pairs_needed: int = constant(50)
    # Pairs with a reward after which the network is trained again.
    update_every: int = constant(10)
    # Alpha of the softmax from which cases are drawn when a caller wants to explore.
    temperature: float = constant(0.1)
    # Random seed for the network's initial weights and for every draw.
    seed: int = constant(7)


@dataclass(frozen=True, slots=True)
class ExecutorSettings:
    servers: str = knob(
        "",
        "MCP servers by name, as a JSON object or tables: command, args, env and cwd of a program, or url and headers of "
        "an address; tools lists those that may be used, prefix goes before their names",
        secret=True,
        json='{"files": {"command": "/usr/bin/python3", "args": ["files.py"]}}',
    )
    # Plans that one task may have: after a failure it is planned again.
    cycles: int = constant(3)
    # Steps that one task may have, over all its plans.
    steps: int = constant(20)
    # Tool calls in one `execute_task`.
    calls: int = constant(50)
    tokens: Natural = knob(100_000, "model tokens in one `execute_task`; 0: no limit")
    wall_s: Span = knob(
        600.0,
        "seconds that one `execute_task` may take; a call of a tool or the model that is still running then is ended",
    )
    # Seconds that a server may take to start and to list its tools.
    start_s: float = constant(20.0)
    # Seconds that one call of a tool may take.
    call_s: float = constant(60.0)
    # Characters that are kept of a tool's result.
    result_chars: int = constant(20000)
