"""
The four numbers of a memory, and the laws by which each of them moves; nothing here reads a clock or a store.

| number | says | moved by | with time |
| --- | --- | --- | --- |
| importance | how valuable when stored | feedback: `judged` | aged by who uses it: `aged` |
| depth | how well established | a full read: `read`; a correction: `corrected` | stays, and slows ageing: `time_factor` |
| energy | how active now | feedback: `roused` | halves, as far as `Decay` has been asked for: `energy_at` |
| usefulness | how often it helped | feedback: `usefulness` | stays |

Times are days, as numbers; each law says its range. Sources: the forgetting curve of Ebbinghaus 1885 for what fades
exponentially; Hebb 1949 for links that grow by use.
"""

from memento.rank.dynamics.fading import (
    GONE,
    UNFADED,
    Decay,
    associated,
    association_at,
    associations_at,
    energies_at,
    energy_at,
    roused,
)
from memento.rank.dynamics.standing import HALF_LIFE_DAYS, Season, activated, outlives, recency, seasons, standing
from memento.rank.dynamics.use import (
    HEAVIEST,
    LIGHTEST,
    MIDDLING,
    READ,
    RESISTS,
    aged,
    band,
    clamped,
    corrected,
    depth_factor,
    importance,
    judged,
    key_rarity,
    passed_by,
    read,
    time_factor,
    trodden,
    usefulness,
)

__all__ = [
    "GONE",
    "HALF_LIFE_DAYS",
    "HEAVIEST",
    "LIGHTEST",
    "MIDDLING",
    "READ",
    "RESISTS",
    "UNFADED",
    "Decay",
    "Season",
    "activated",
    "aged",
    "associated",
    "association_at",
    "associations_at",
    "band",
    "clamped",
    "corrected",
    "depth_factor",
    "energies_at",
    "energy_at",
    "importance",
    "judged",
    "key_rarity",
    "outlives",
    "passed_by",
    "read",
    "recency",
    "roused",
    "seasons",
    "standing",
    "time_factor",
    "trodden",
    "usefulness",
]
