"""
Cases: what worked before, found by likeness and by a value that is learned from rewards.

*Flow:* `retrieve` takes the cases of a `bank` that are near a task or share an entity with it, and puts them in order by their
cosine and by what the Q function of `learner` says; `credit` tells the cases that were shown what the task earned, and the
function learns; `run` keeps how a task is carried out, `keep` makes a case of it, and `forget` lets cases go.

*Because:* nothing but the graph is the truth. Vectors, arrays and weights are derived from it and made anew when they are gone.
"""
