"""The settings of recall, phase by phase."""

from __future__ import annotations

from dataclasses import dataclass

from memento.settings.knob import knob

ENGINES = ("signals", "ppr", "spread", "hops", "published")


@dataclass(frozen=True, slots=True)
class LandSettings:
    engine: str = knob(
        "signals", "what ranks: weighed signals, one of three walks alone, or the phases as first published", ENGINES
    )
    mend: bool = knob(
        True, "read a word that neither the memories nor the embedder know as the known word one letter away"
    )
    pool: int = knob(200, "candidates that each strong signal brings in")
    whole: int = knob(
        50_000, "memories up to which every signal looks at all of them; above, only at what vectors and words bring in"
    )
    flat: int = knob(
        200_000,
        "vectors up to which all are compared with the question; above, those that an inverted file of codes finds",
    )
    candidates: int = knob(100, "as published: memories taken from each of the two searches and from the walk")


@dataclass(frozen=True, slots=True)
class SignalsSettings:
    meaning: float = knob(0.5, "weight of the cosine of question and memory")
    window: float = knob(0.5, "weight of the cosine of question and the turns around the memory")
    words: float = knob(0.35, "weight of BM25 on the memory and the turn before it")
    pairs: float = knob(0.25, "weight of BM25 on neighbouring words")
    session: float = knob(0.25, "weight of BM25 on the whole session")
    speaker: float = knob(
        0.5, "weight of being said by the one participant whom the question names, or by the one who asks"
    )
    own: float = knob(0.3, "weight of being about the user, when the question says I or my")
    slot: float = knob(0.8, "weight of filling the property that the question asks for, as the employer")
    when: float = knob(0.5, "weight of fitting a date in the question")
    form: float = knob(
        0.5, "weight of the shape of the sentence: long, no question, a time or number where one is asked for"
    )
    subject: float = knob(0.9, "weight of being about what the question names")
    link: float = knob(0.7, "weight of being about what a good memory mentions")
    shared: float = knob(0.35, "weight of sharing a rare name with a good memory and covering what it leaves open")
    tie: float = knob(0.15, "weight of sharing a name that hardly any other memory has with a good memory")
    walk: float = knob(0.0, "weight of the rank on a walk from the anchors; 0 leaves the walk out")
    inferred: float = knob(
        0.0,
        "weight of being about what the question's names lead to by relations that axioms are stated of; 0 leaves inference out",
    )


@dataclass(frozen=True, slots=True)
class FusionSettings:
    vector_weight: float = knob(
        0.7, "share of the first list when two ranked lists are fused; the second gets the rest"
    )
    quality_threshold: float = knob(0.3, "normalised score below which an item of the second list is dropped")
    full_weight_results: int = knob(5, "results a list needs to keep its whole weight")
    target_mean: float = knob(0.5, "mean that scores are aligned to before they are scaled to 0..1")
    target_deviation: float = knob(0.2, "standard deviation that scores are aligned to")


@dataclass(frozen=True, slots=True)
class AnchorSettings:
    seeds: int = knob(5, "best memories whose entities anchor, beside those that the question names")
    seed_share: float = knob(0.3, "weight of an entity of the best memory, when one in the question weighs 1")
    min_memories: int = knob(1, "as published: seed memories that must be about an entity before it anchors")
    semantic: float = knob(0.5, "as published: weight of the entity's own likeness to the question")
    memory: float = knob(0.3, "as published: weight of the mean likeness of the seed memories about it")
    structural: float = knob(0.2, "as published: weight of its degree in the graph; the three weights sum to 1")
    user: bool = knob(False, "let the user anchor too; the user is a giant hub")


@dataclass(frozen=True, slots=True)
class ExpandSettings:
    seeds: int = knob(20, "best memories whose links are followed")
    damping: float = knob(0.75, "share of the rank that follows links; the rest restarts at the anchors")
    passages: float = knob(0.5, "restart weight of the best memory itself, when a rare name in the question weighs 1")
    epsilon: float = knob(3e-5, "rank that the walk leaves behind for each link of a node; smaller is slower")
    active: float = knob(
        0.3, "engine spread: activation of the best memory at the start; with more all end at 1", least=0, most=1
    )
    steps: int = knob(3, "engine spread: how often activation is passed on")
    decay: float = knob(0.85, "engine spread: share of activation that arrives over a link of weight 1")
    threshold: float = knob(0.1, "engine spread: activation above which a node passes it on")
    hops: int = knob(2, "engine hops: how far from the seeds, themselves being the first hop")
    iterations: int = knob(25, "as published: steps of the walk at most; 0 leaves ANCHOR and EXPAND out")
    structural_weight: float = knob(0.5, "as published: share of the walk in the score of EXPAND; cosine gets the rest")
    weighted: bool = knob(False, "as published: restart at the anchors by their weights, not equally")
    normalise: str = knob(
        "none", "as published: how walk scores are scaled before they are mixed with cosines", ("none", "max", "minmax")
    )


@dataclass(frozen=True, slots=True)
class DistillSettings:
    top_k: int = knob(10, "memories returned when the caller names no number")
    lambda_min: float = knob(0.5, "relevance share of MMR when the best score hardly stands out")
    lambda_max: float = knob(0.7, "relevance share of MMR when the best score stands out; 1 turns diversity off")


@dataclass(frozen=True, slots=True)
class GateSettings:
    on: bool = knob(True, "answer with nothing when nothing in the scope is relevant to the question")
    base: float = knob(0.0, "score of a scope of 600 memories below which it is empty; 0 takes what fits the embedder")
    slope: float = knob(0.04, "with `base`: what the threshold grows by when the scope grows e-fold")
    floor: float = knob(0.1, "with `base`: the least threshold, for scopes of ten memories and more; less for fewer")


@dataclass(frozen=True, slots=True)
class WordsSettings:
    k1: float = knob(1.5, "BM25: how soon repeated words stop counting")
    b: float = knob(0.75, "BM25: how much long texts are discounted, 0..1")
