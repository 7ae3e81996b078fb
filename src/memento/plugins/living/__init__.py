"""Living memories: s-expressions over the memory, which can be stored and run again."""

from memento.plugin import Plugin

plugin = Plugin(
    name="living",
    summary="Strength that grows by use and fades, associations, an archive, and s-expressions over the memory.",
    operations="memento.plugins.living.operations",
    handlers="memento.plugins.living.handlers",
    settings={"sexpr": "memento.plugins.living.settings:SexprSettings"},
    tools={"sexpr": "memento.plugins.living.tools:EXPRESSION_TOOLS"},
    groups={"expressions": "Evaluate s-expressions over the memory."},
    commands="memento.plugins.living.commands",
    views="memento.plugins.living.views:VIEWS",
    sections={"docs/sexpr.md#verbs": "memento.plugins.living.sexpr.verbs:table"},
)
