"""
How many tokens does the block take that the proxy inserts into a request?

Data: three facts of the user, short, middle and long, told on different days. Baseline: the XML form.
Run: `.venv/bin/python tests/bench/block.py`; some seconds.

    facts     tokens of the facts' own words
    frame     tokens of a block without any memory
    lines     tokens of the block as dated lines
    xml       tokens of the block as XML
"""

from __future__ import annotations

from datetime import date

from measure import fresh_memory
from memento.interfaces.proxy.blocks import INSTRUCTIONS
from memento.model import Recollection
from memento.retrieval.render import as_lines, count_tokens, fit_block

FACTS = {
    "short": ("I live in Porto.", "I work at Sonae.", "I have a dog, Bica."),
    "middle": (
        "My sister Ana moved to Braga with her two children in June.",
        "My rent is 850 euros a month, due on the first.",
        "I am allergic to peanuts, and my doctor is Dr Lopes.",
    ),
    "long": (
        "The boiler broke again last week. The landlord, Mr Pinto, sends a plumber on Thursday morning between nine and eleven.",
        "I signed up for the half marathon in Lisbon. I run three times a week now, with Rui, on Sundays along the river.",
        "We planned the summer with my parents: ten days in the Azores from the fourth of August. Mum wants to see the whales, dad "
        "the lakes.",
    ),
}
TODAY = date(2026, 3, 2)


def main() -> dict[str, dict[str, int]]:
    """Print a line for each length, and return the figures."""
    figures = {}
    for name, facts in FACTS.items():
        with fresh_memory("minilm") as memento:
            for day, fact in enumerate(facts, start=3):
                memento.note(fact, at=f"2025-03-{day:02}")
            found = memento.recall("What do you know about me?", gate=False)
        empty = Recollection(query="", namespace="main", memories=(), entities=(), total_candidates=0, timings_ms={})
        blocks = {form: fit_block(found, TODAY, 2000, INSTRUCTIONS[form], form)[1] for form in ("lines", "xml")}
        figures[name] = {
            "memories": len(found.memories),
            "facts": count_tokens("\n".join(facts)),
            "frame": count_tokens(as_lines(empty, TODAY, INSTRUCTIONS["lines"])),
            **{form: count_tokens(block) for form, block in blocks.items()},
        }
        print(f"{name:<8}" + "  ".join(f"{measure} {value:4}" for measure, value in figures[name].items()), flush=True)
    return figures


if __name__ == "__main__":
    main()
