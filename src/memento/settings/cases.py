"""How cases are kept, ranked, rewarded and learned from."""

from __future__ import annotations

from dataclasses import dataclass

from memento.settings.knob import knob


@dataclass(frozen=True, slots=True)
class CasesSettings:
    k: int = knob(4, "most cases to follow, and most cases to avoid, that one retrieval shows", least=1)
    candidates: int = knob(50, "cases that are ranked: the nearest ones, and those that share an entity", least=1)
    ranking: str = knob(
        "q", "what ranks cases: q is the learned value beside the cosine, as soon as it has learned", ("q", "cosine")
    )
    positive_from: float = knob(0.5, "reward from which a case is one to follow", least=-1, most=1)
    template_from: float = knob(
        0.3, "cosine from which a case is like enough for its plan to be copied where no model plans", least=-1, most=1
    )
    limit: int = knob(10_000, "most cases kept in one domain; the least valuable go", least=1)
    retrievals: int = knob(
        5_000, "look-ups of cases kept in one domain with what they showed; the oldest go", least=100
    )
    half_life_days: float = knob(90.0, "days after which a case counts half when the least valuable go", least=0.001)
    record_chars: int = knob(500, "characters of a step's texts in the graph; the packed trajectory has all", least=1)
    pack: bool = knob(True, "keep the whole trajectory of a finished task, gzipped, beside its steps")
    efficiency_bonus: float = knob(
        0.1, "weight of the saved share of the cost in a reward, beside 1 of the outcome", least=0
    )
    judge_weight: float = knob(0.5, "weight of a judge's score in a reward, beside 1 of the outcome", least=0)
    pairs_needed: int = knob(50, "pairs with a reward, of both kinds together, before Q has a say", least=2)
    update_every: int = knob(10, "rewarded pairs after which the network learns", least=1)
    temperature: float = knob(
        0.1, "alpha of the softmax that cases are drawn from when a caller wants to explore", least=0.001
    )
    seed: int = knob(7, "number that the network's beginning and every draw are made from", least=0)
