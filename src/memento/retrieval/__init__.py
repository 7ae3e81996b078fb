"""
Find the few memories that matter for a question, in five phases: LAND, ANCHOR, EXPAND, DISTILL, TRACE.

*Flow:* `pipeline` calls the phases in this order. LAND is in `signals`, with every signal; `anchor`, `expand`, `distill` and
`trace` have the others. `engines` has other ways to rank; `render` formats the result.

*But:* no language model is used.
"""
