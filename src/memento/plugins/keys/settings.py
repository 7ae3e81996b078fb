"""The settings of keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from msgspec import Meta

from memento.settings import Amount, Natural, Positive, Share, constant, knob

_OWN = "; empty: as calibrated for the embedder"


@dataclass(frozen=True, slots=True)
class KeysSettings:
    key_recall: Share | None = knob(None, f"cosine from which a concept key matches a question{_OWN}")
    content_recall: Share | None = knob(None, f"cosine of question and memory from which the memory's keys match{_OWN}")
    auto_link: Share | None = knob(
        None, f"cosine of key and memory from which an existing key is linked automatically{_OWN}"
    )
    merge: Share | None = knob(None, f"cosine from which two concept keys are merged{_OWN}")
    # F'the same for keys of one or two words, which carry less meaning; 0 keeps them apart{_OWN}'.
    short_merge: float | None = constant(None)
    dedup: Share | None = knob(None, f"cosine from which two memories count as duplicates{_OWN}")
    contradiction: Share | None = knob(
        None, f"cosine from which two memories with a common key may contradict each other{_OWN}"
    )
    min_score: Share | None = knob(
        None,
        "best cosine below which direct recall has no answer, unless the question names a key, or is a single word that a memory "
        f"has{_OWN}",
    )
    gate_z: Amount = knob(0.0, "robust z-score by which the best cosine of direct recall must stand out; 0: none")
    key_gate: Share = knob(0.0, "best cosine of a key from which direct recall answers, whatever the memories; 0: none")
    hub: Annotated[int, Meta(ge=2)] = knob(3, "memories from which a key is shown as a hub")
    # Let names and nouns link memories that came without keys, as memories from notes do.
    phrases: bool = constant(True)
    autokey: bool = knob(True, "learn the words of questions that led to a memory as aliases of its key")
    autokey_after: Positive = knob(3, "how often a question must have led there before its words are learned")
    autokey_floor: Share = knob(0.45, "cosine of question and key from which its words are learned")
    autokey_aliases: Natural = knob(8, "most phrases that one key learns")
    autokey_days: Amount = knob(30.0, "days after which a learned phrase that nobody has used is removed")
    direct: bool = knob(False, "offer direct recall over the key graph (`recall_memories`) in addition to the walk")

    EARLIER_NAMES: ClassVar[Mapping[str, str]] = {
        "KEYMEM_KEY_RECALL": "MEMENTO_KEYS_KEY_RECALL",
        "KEYMEM_CONTENT_RECALL": "MEMENTO_KEYS_CONTENT_RECALL",
        "KEYMEM_KEY_AUTOLINK": "MEMENTO_KEYS_AUTO_LINK",
        "KEYMEM_KEY_MERGE": "MEMENTO_KEYS_MERGE",
        "KEYMEM_MEMORY_DEDUP": "MEMENTO_KEYS_DEDUP",
        "KEYMEM_MIN_SCORE": "MEMENTO_KEYS_MIN_SCORE",
        "KEYMEM_CONTRADICTION": "MEMENTO_KEYS_CONTRADICTION",
        "KEYMEM_GATE_Z": "MEMENTO_KEYS_GATE_Z",
        "KEYMEM_KEY_GATE": "MEMENTO_KEYS_KEY_GATE",
        "KEYMEM_KEY_HUB_MIN_LINKS": "MEMENTO_KEYS_HUB",
        "KEYMEM_DIRECT_RECALL": "MEMENTO_KEYS_DIRECT",
        "KEYMEM_RERANK_MIN_SCORE": "MEMENTO_RERANK_FLOOR",
        "KEYMEM_AUTOKEY": "MEMENTO_KEYS_AUTOKEY",
        "KEYMEM_AUTOKEY_PROMOTE_N": "MEMENTO_KEYS_AUTOKEY_AFTER",
        "KEYMEM_AUTOKEY_CONFIRM_FLOOR": "MEMENTO_KEYS_AUTOKEY_FLOOR",
        "KEYMEM_AUTOKEY_MAX_ALIASES": "MEMENTO_KEYS_AUTOKEY_ALIASES",
        "KEYMEM_AUTOKEY_PRUNE_AGE": "MEMENTO_KEYS_AUTOKEY_DAYS",
    }
    """Names that the published design of keys uses → names of our settings."""

    INSTEAD: ClassVar[Mapping[str, str]] = {
        "KEYMEM_DATA_DIR": "set MEMENTO_HOME",
        "KEYMEM_RERANK": "set MEMENTO_RERANK_FOLDER to the folder of a cross-encoder",
        "KEYMEM_AUTO_MIGRATE": "vectors of another model are made again by themselves",
        "KEYMEM_FORCE_REEMBED": "run `memento store migrate --force`",
    }
