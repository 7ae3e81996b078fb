"""
Every knob, its default and its reason: environment over `.env` over `memento.toml` over default.

`MEMENTO_LAND_CANDIDATES=50` sets `candidates` of the group `land`; in the file it is `candidates = 50` under `[land]`. Only
`MEMENTO_HOME`, `MEMENTO_NAMESPACE`, `MEMENTO_TOOLS` and `MEMENTO_CONFIG` stand outside the groups. This is the only room that
reads the environment.
Functions receive their own group, never the whole.
"""

from memento.settings.cases import CasesSettings
from memento.settings.executor import ExecutorSettings
from memento.settings.groups import (
    AgentSettings,
    CheckpointsSettings,
    ConsolidationSettings,
    EmbeddingSettings,
    InferenceSettings,
    LimitsSettings,
    ManifestSettings,
    ModelSettings,
    ProxySettings,
    ScopeSettings,
    ServerSettings,
    Settings,
    SexprSettings,
    SparqlSettings,
    TelemetrySettings,
)
from memento.settings.keys import KeysSettings
from memento.settings.living import LivingSettings
from memento.settings.loading import (
    home_and_namespace,
    load,
    namespace_called,
    namespace_checked,
    tool_groups,
    with_engine,
    with_profile,
)
from memento.settings.page import TOOL_GROUPS, groups, shown, table
from memento.settings.profiles import PROFILES
from memento.settings.recall import (
    ENGINES,
    AnchorSettings,
    DistillSettings,
    ExpandSettings,
    FusionSettings,
    GateSettings,
    LandSettings,
    SignalsSettings,
    WordsSettings,
)
from memento.settings.rules import check

__all__ = [
    "ENGINES",
    "PROFILES",
    "TOOL_GROUPS",
    "AgentSettings",
    "AnchorSettings",
    "CasesSettings",
    "CheckpointsSettings",
    "ConsolidationSettings",
    "DistillSettings",
    "EmbeddingSettings",
    "ExecutorSettings",
    "ExpandSettings",
    "FusionSettings",
    "GateSettings",
    "InferenceSettings",
    "KeysSettings",
    "LandSettings",
    "LimitsSettings",
    "LivingSettings",
    "ManifestSettings",
    "ModelSettings",
    "ProxySettings",
    "ScopeSettings",
    "ServerSettings",
    "Settings",
    "SexprSettings",
    "SignalsSettings",
    "SparqlSettings",
    "TelemetrySettings",
    "WordsSettings",
    "check",
    "groups",
    "home_and_namespace",
    "load",
    "namespace_called",
    "namespace_checked",
    "shown",
    "table",
    "tool_groups",
    "with_engine",
    "with_profile",
]
