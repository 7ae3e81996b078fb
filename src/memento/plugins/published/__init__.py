"""
Rankings with the constants that others published, for comparison: the phases of the first design (`--profile seed`), and the plain
hybrid that every design should beat (`--profile half`).

*Flow:* `phases` has the five phases, `fusion` the formulas by which two lists become one and an answer diverse. `settings` declares
the constants, and the two profiles.
"""

from memento.plugin import Plugin

plugin = Plugin(
    name="published",
    summary="Recall by the phases and constants of the first published design, for comparison.",
    settings={"published": "memento.plugins.published.settings:PublishedSettings"},
    engines={"published": "memento.plugins.published.phases:rank_as_published"},
    profiles={
        "seed": "memento.plugins.published.settings:SEED",
        "half": "memento.plugins.published.settings:HALF",
    },
)
