"""
Cases: what worked before, found by likeness and by a value that is learned from rewards.

*Flow:* a `domain` has a `bank` of cases as arrays and a `learner`. `retrieve` takes the cases that are near a task or share an
entity with it, and puts them in order by their cosine and by what the Q function says; `credit` gives what the task earned to the
cases that were shown, and the function learns. `plan` makes a plan of cases and carries it out, `runs` keeps each step,
`lifecycle` makes a case of it, shows cases and lets them go; `navigate` looks at many.

*Because:* nothing but the graph is the truth. Vectors, arrays and weights are derived from it and rebuilt when they are gone.
"""
