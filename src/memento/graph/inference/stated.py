"""The rules by their names, each with the query that states it and the sentence that says what it does."""

from __future__ import annotations

from collections.abc import Mapping

from memento.graph.binding import query

RULES: Mapping[str, str] = {
    "cax-sco": "inference/sub_class",
    "eq-rep-o": "inference/same",
    "eq-rep-s": "inference/same",
    "prp-eqp1": "inference/equivalent",
    "prp-eqp2": "inference/equivalent",
    "prp-fp": "inference/functional",
    "prp-inv1": "inference/inverse",
    "prp-inv2": "inference/inverse",
    "prp-spo1": "inference/sub_property",
    "prp-spo2": "inference/chain",
    "prp-symp": "inference/symmetric",
    "prp-trp": "inference/transitive",
    "slot": "inference/slot",
}
"""The name of each rule, in OWL 2 Profiles where it is one of theirs → the file that states it."""


def sentence(rule: str) -> str:
    """
    What a rule does.

    >>> sentence("prp-symp")
    'What holds of a symmetric property holds the other way round too.'
    """
    return query(RULES[rule]).text.partition("\n")[0].removeprefix("# ")
