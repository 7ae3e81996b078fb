"""
Every knob, its default and its reason: environment over `.env` over `memento.toml` over default.

`MEMENTO_LAND_CANDIDATES=50` sets `candidates` of the group `land`; in the file it is `candidates = 50` under `[land]`. Only
`MEMENTO_HOME`, `MEMENTO_NAMESPACE`, `MEMENTO_TOOLS` and `MEMENTO_CONFIG` stand outside the groups. This is the only room that
reads the environment.
Functions receive their own group, never the whole.
"""

from memento.settings.groups import *
from memento.settings.loader import *
