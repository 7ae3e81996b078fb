"""The verbs of expressions: what they are called, what they take, what they do."""

from __future__ import annotations

from memento.sexpr import spoken
from memento.sexpr.evaluation import VALUES, Parameter, Table, Verb

__all__ = ["READING", "VALUES", "VERBS", "WRITING", "table"]

READING = (
    Verb(
        name="recall",
        does="The memories whose text or tags have the query in them, and those tied to them, by activation, recency and "
        "importance. They count as used.",
        parameters=(Parameter("query", "text"), Parameter("limit", "whole", 10)),
        run=spoken.recall,
    ),
    Verb(
        name="search",
        does="The memories that answer a question, by meaning and words, as `memento recall`.",
        parameters=(Parameter("question", "text"), Parameter("limit", "whole", 10)),
        run=spoken.search,
    ),
    Verb(name="item", does="One memory with its numbers.", parameters=(Parameter("id", "text"),), run=spoken.item),
    Verb(
        name="trace",
        does="The paths over associations that lead away from a memory; depth is 1 to 6.",
        parameters=(Parameter("start", "text"), Parameter("depth", "whole", 2)),
        run=spoken.trace,
    ),
    Verb(
        name="activate",
        does="Spread activation from some memories; the twenty most active.",
        parameters=(
            Parameter("seeds", "texts"),
            Parameter("steps", "whole", 3),
            Parameter("decay", "number", 0.85),
            Parameter("threshold", "number", 0.1),
        ),
        run=spoken.activate,
    ),
    Verb(name="stats", does="The memory in numbers, and its map.", parameters=(), run=spoken.stats),
    Verb(
        name="sparql",
        does="A read-only SPARQL query: a list of records, true or false, or Turtle.",
        parameters=(Parameter("query", "text"),),
        run=spoken.sparql,
    ),
    Verb(
        name="snapshot",
        does="The whole memory as one expression that loads it; `true` for the namespace alone.",
        parameters=(Parameter("only", "truth", False),),
        run=spoken.snapshot,
    ),
    Verb(name="policies", does="The policies, by name.", parameters=(), run=spoken.policies),
    Verb(
        name="policy",
        does="The expression of a policy.",
        parameters=(Parameter("name", "text"),),
        run=spoken.policy,
    ),
    Verb(
        name="run",
        does="Evaluate a policy; it costs fuel as what it holds does.",
        parameters=(Parameter("name", "text"),),
        run=spoken.run,
    ),
)
WRITING = (
    Verb(
        name="remember",
        does='Keep a text as a memory, in the third person; importance is 0..1, ttl as "30d".',
        parameters=(
            Parameter("text", "text"),
            Parameter("type", "text", "fact"),
            Parameter("importance", "number", 0.5),
            Parameter("ttl", "text", None),
            Parameter("tags", "texts", None),
        ),
        run=spoken.remember,
        writes=True,
    ),
    Verb(
        name="associate",
        does="Let one memory lead to another; where it does already, the link grows by a tenth of the weight.",
        parameters=(
            Parameter("from", "text"),
            Parameter("to", "text"),
            Parameter("relation", "text", "similar"),
            Parameter("weight", "number", 0.5),
        ),
        run=spoken.associate,
        writes=True,
    ),
    Verb(
        name="feedback",
        does='Say that a memory helped ("success") or misled ("fail"): its energy grows or shrinks by a tenth.',
        parameters=(Parameter("id", "text"), Parameter("outcome", "text")),
        run=spoken.feedback,
        writes=True,
    ),
    Verb(
        name="decay!",
        does="Let energies fade up to now, by half in `living.half_life` days (7); a second time at once changes nothing.",
        parameters=(Parameter("half-life-days", "number", None),),
        run=spoken.decay,
        writes=True,
    ),
    Verb(
        name="consolidate",
        does="Archive the memories that have no energy left and are hardly used, and draw the map anew.",
        parameters=(Parameter("dry-run", "truth", False),),
        run=spoken.consolidate,
        writes=True,
    ),
    Verb(
        name="unarchive",
        does="Bring an archived memory back.",
        parameters=(Parameter("id", "text"),),
        run=spoken.unarchive,
        writes=True,
    ),
    Verb(
        name="set-policy",
        does="Keep an expression under a name, to be run again.",
        parameters=(Parameter("name", "text"), Parameter("expression", "any")),
        run=spoken.set_policy,
        writes=True,
        takes_forms=True,
    ),
    Verb(
        name="load",
        does="Take in what `snapshot` gave; a second time changes nothing.",
        parameters=(),
        run=spoken.load,
        writes=True,
        takes_forms=True,
        takes_more=True,
    ),
)
VERBS: Table = {verb.name: verb for verb in (*READING, *WRITING, *VALUES)}


def table() -> str:
    """The verbs as the table of docs/sexpr.md."""
    lines = ["| expression | what it does |", "| --- | --- |"]
    for kind, verbs in (("reading", READING), ("changing the memory", WRITING), ("taking values apart", VALUES)):
        lines.append(f"| *{kind}* | |")
        lines += [f"| `{verb.signature}` | {verb.does} |" for verb in verbs]
    return "\n".join(lines) + "\n"
