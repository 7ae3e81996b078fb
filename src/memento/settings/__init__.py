"""
Every knob, its default and its reason: environment over `memento.toml` over default.

`MEMENTO_LAND_CANDIDATES=50` sets `candidates` of the group `land`; in the file it is `candidates = 50` under `[land]`. Only
`MEMENTO_HOME`, `MEMENTO_NAMESPACE` and `MEMENTO_TOOLS` stand outside the groups. This is the only room that reads the environment.
Functions receive their own group, never the whole.
"""

from memento.settings.groups import (
    ENGINES,
    AnchorSettings,
    ConsolidationSettings,
    DistillSettings,
    EmbeddingSettings,
    ExpandSettings,
    FusionSettings,
    GateSettings,
    LandSettings,
    LimitsSettings,
    ScopeSettings,
    ServerSettings,
    Settings,
    SignalsSettings,
    TelemetrySettings,
    WordsSettings,
)
from memento.settings.loading import (
    TOOL_GROUPS,
    check,
    groups,
    home_and_namespace,
    load,
    namespace_called,
    namespace_checked,
    table,
    tool_groups,
    with_engine,
    with_profile,
)
from memento.settings.profiles import PROFILES

__all__ = [
    "ENGINES",
    "PROFILES",
    "TOOL_GROUPS",
    "AnchorSettings",
    "ConsolidationSettings",
    "DistillSettings",
    "EmbeddingSettings",
    "ExpandSettings",
    "FusionSettings",
    "GateSettings",
    "LandSettings",
    "LimitsSettings",
    "ScopeSettings",
    "ServerSettings",
    "Settings",
    "SignalsSettings",
    "TelemetrySettings",
    "WordsSettings",
    "check",
    "groups",
    "home_and_namespace",
    "load",
    "namespace_called",
    "namespace_checked",
    "table",
    "tool_groups",
    "with_engine",
    "with_profile",
]
