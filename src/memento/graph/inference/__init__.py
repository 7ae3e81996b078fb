"""
What follows from what is stated, with the reasons: a graph of inferred triples that keeps up with the premises.

*Flow:* `premises` takes axioms and facts out of the store, `rules` makes rules of the axioms, `closure` draws the conclusions, and
`inferences` puts them with their proofs into one graph for each reader and brings it up to date.

*Guarantees:* the rules are those of `queries/inference/*.rq`, run until nothing new comes: that is tested. What is stated is never
inferred as well. A proof never rests on what it proves. No `owl:sameAs` is ever made.

*But:* a subset of OWL 2 RL, and of the data only properties that an axiom names: see docs/inference.md. A blank node takes no part.

*Source:* the rules go by their names in OWL 2 Profiles, section 4.3, https://www.w3.org/TR/owl2-profiles/
"""
