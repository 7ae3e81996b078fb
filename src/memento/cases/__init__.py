"""
Cases: finished tasks as examples, found by similarity and by a value that is learned from rewards.

*Flow:* a `domain` has a `bank` of cases as arrays and a `learner`. `retrieve` takes the cases that are similar to a task or share
an entity with it, and ranks them by cosine and by the Q function. `credit` gives the reward of the task to the cases that were
shown, and the Q function learns from it. `plan` makes a plan from cases and executes it, `runs` stores each step, `lifecycle`
stores a finished task as a case, shows cases and prunes them, and `navigate` shows many at once.

*Because:* only the graph is authoritative. Vectors, arrays and weights are derived from it and are rebuilt when they are missing.
"""
