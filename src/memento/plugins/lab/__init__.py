"""The laboratory: how well recall finds what it should, measured on questions with known answers."""

from memento.plugin import Plugin

plugin = Plugin(
    name="lab",
    summary="Measure recall on questions with known answers.",
    commands="memento.plugins.lab.commands",
)
