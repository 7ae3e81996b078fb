"""The verbs of expressions: what they are called, what they take, what they do."""

from __future__ import annotations

from memento.operations import expressions, graphs, keys
from memento.operations import recall as recalls
from memento.operations import strength as strengths
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
        asks=(expressions.RecallItems,),
    ),
    Verb(
        name="search",
        does="The memories that answer a question, by meaning and words, as `memento recall`.",
        parameters=(Parameter("question", "text"), Parameter("limit", "whole", 10)),
        run=spoken.search,
        asks=(recalls.Recall,),
    ),
    Verb(
        name="item",
        does="One memory with its numbers.",
        parameters=(Parameter("id", "text"),),
        run=spoken.item,
        asks=(expressions.GetItem, strengths.Strength),
    ),
    Verb(
        name="trace",
        does="The paths over associations that lead away from a memory; depth is 1 to 6.",
        parameters=(Parameter("start", "text"), Parameter("depth", "whole", 2)),
        run=spoken.trace,
        asks=(strengths.Trace,),
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
        asks=(strengths.Activate,),
    ),
    Verb(
        name="stats",
        does="The memory in numbers, and its map.",
        parameters=(),
        run=spoken.stats,
        asks=(recalls.Manifest, keys.MemoryStats),
    ),
    Verb(
        name="sparql",
        does="A read-only SPARQL query: a list of records, true or false, or Turtle.",
        parameters=(Parameter("query", "text"),),
        run=spoken.sparql,
        asks=(graphs.Query,),
    ),
    Verb(
        name="snapshot",
        does="The whole memory as one expression that loads it; `true` for the namespace alone.",
        parameters=(Parameter("only", "truth", False),),
        run=spoken.snapshot,
    ),
    Verb(
        name="policies", does="The policies, by name.", parameters=(), run=spoken.policies, asks=(expressions.Policies,)
    ),
    Verb(
        name="policy",
        does="The expression of a policy.",
        parameters=(Parameter("name", "text"),),
        run=spoken.policy,
        asks=(expressions.Policies,),
    ),
    Verb(
        name="run",
        does="Evaluate a policy; it costs fuel as what it holds does.",
        parameters=(Parameter("name", "text"),),
        run=spoken.run,
        asks=(expressions.Policies,),
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
        asks=(keys.Remember,),
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
        asks=(strengths.Associate,),
        writes=True,
    ),
    Verb(
        name="feedback",
        does='Say that a memory helped ("success") or misled ("fail"): its energy grows or shrinks by a tenth.',
        parameters=(Parameter("id", "text"), Parameter("outcome", "text")),
        run=spoken.feedback,
        asks=(strengths.Feedback,),
        writes=True,
    ),
    Verb(
        name="decay!",
        does="Let energies fade up to now, by half in `living.half_life` days (7); a second time at once changes nothing.",
        parameters=(Parameter("half-life-days", "number", None),),
        run=spoken.decay,
        asks=(strengths.Decay,),
        writes=True,
    ),
    Verb(
        name="consolidate",
        does="Archive the memories that have no energy left and are hardly used, and draw the map anew.",
        parameters=(Parameter("dry-run", "truth", False),),
        run=spoken.consolidate,
        asks=(strengths.Archive, recalls.Manifest),
        writes=True,
    ),
    Verb(
        name="unarchive",
        does="Bring an archived memory back.",
        parameters=(Parameter("id", "text"),),
        run=spoken.unarchive,
        asks=(strengths.Unarchive,),
        writes=True,
    ),
    Verb(
        name="set-policy",
        does="Keep an expression under a name, to be run again.",
        parameters=(Parameter("name", "text"), Parameter("expression", "any")),
        run=spoken.set_policy,
        asks=(expressions.SetPolicy,),
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
