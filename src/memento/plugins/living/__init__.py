"""Living memories: strength that use and time change, associations, an archive, and s-expressions that can be stored."""

from memento.plugin import Plugin

plugin = Plugin(
    name="living",
    summary="Strength that grows by use and fades, associations, an archive, and s-expressions over the memory.",
    operations="memento.plugins.living.operations",
    handlers="memento.plugins.living.handlers",
    settings={"sexpr": "memento.plugins.living.settings:SexprSettings"},
    profiles={"living": "memento.plugins.living.settings:LIVING"},
    tools={
        "living": "memento.plugins.living.tools:LIVING_TOOLS",
        "sexpr": "memento.plugins.living.tools:EXPRESSION_TOOLS",
    },
    groups={
        "living": "How use and time change memories: feedback, associations, decay, the archive.",
        "expressions": "Evaluate s-expressions over the memory.",
    },
    buttons=("feedback", "unarchive"),
    panel="memento.plugins.living.views:show_strength",
    commands="memento.plugins.living.commands",
    views="memento.plugins.living.views:VIEWS",
    sections={"docs/sexpr.md#verbs": "memento.plugins.living.sexpr.verbs:table"},
)
