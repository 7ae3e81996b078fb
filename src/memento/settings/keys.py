"""The settings of the key graph."""

from __future__ import annotations

from dataclasses import dataclass

from memento.settings.knob import knob

_OWN = "; empty: as calibrated for the embedder"


@dataclass(frozen=True, slots=True)
class KeysSettings:
    key_recall: float | None = knob(None, f"cosine from which a concept key answers a question{_OWN}", least=0, most=1)
    content_recall: float | None = knob(
        None, f"cosine of question and memory from which the memory's keys answer{_OWN}", least=0, most=1
    )
    auto_link: float | None = knob(
        None, f"cosine of key and memory from which an existing key is linked by itself{_OWN}", least=0, most=1
    )
    merge: float | None = knob(None, f"cosine from which two concept keys are one{_OWN}", least=0, most=1)
    short_merge: float | None = knob(
        None, f"the same for keys of one or two words, which mean less; 0 keeps them apart{_OWN}", least=0, most=1
    )
    dedup: float | None = knob(None, f"cosine from which two memories say the same{_OWN}", least=0, most=1)
    contradiction: float | None = knob(
        None, f"cosine from which two memories with a common key may contradict each other{_OWN}", least=0, most=1
    )
    min_score: float | None = knob(
        None, f"best cosine below which direct recall has no answer, unless a key is named{_OWN}", least=0, most=1
    )
    gate_z: float = knob(
        0.0, "robust z-score that the best cosine of direct recall must stand out by; 0: none", least=0
    )
    key_gate: float = knob(
        0.0, "best cosine of a key from which direct recall answers, whatever the memories; 0: none", least=0, most=1
    )
    hub: int = knob(3, "memories from which on a key is shown as a hub", least=2)
    phrases: bool = knob(True, "let names and nouns lead between memories that came without keys, as those of notes do")
    autokey: bool = knob(True, "learn the words of questions that led to a memory as names of its key")
    autokey_after: int = knob(3, "how often a question must have led there, before its words are learned", least=1)
    autokey_floor: float = knob(0.45, "cosine of question and key from which its words are learned", least=0, most=1)
    autokey_aliases: int = knob(8, "most phrases that one key learns", least=0)
    autokey_days: float = knob(30.0, "days after which a learned phrase goes that nobody has used", least=0)
    direct: bool = knob(False, "offer direct recall over the key graph (`recall_memories`) beside the walk")
    rerank: str = knob("", "folder of a cross-encoder that orders the best 30 of direct recall anew; empty: none")
    rerank_floor: float | None = knob(
        None, "score of the cross-encoder's best, below which direct recall has no answer; empty: none"
    )
