"""
The laboratory: recall measured on questions with known answers, and inference from stated axioms, with proofs.

*Flow:* `evaluation` reads a set of questions, asks them and reports. `inference` reads the axioms and facts of a reader when
inferred triples are read, and derives what follows from them.
"""

from memento.plugin import Plugin

plugin = Plugin(
    name="lab",
    summary="Measure recall on questions with known answers; infer what follows from stated axioms.",
    operations="memento.plugins.lab.operations",
    handlers="memento.plugins.lab.handlers",
    infers="memento.plugins.lab.inference:infer",
    settings={"inference": "memento.plugins.lab.settings:InferenceSettings"},
    groups={},
    commands="memento.plugins.lab.commands",
)
