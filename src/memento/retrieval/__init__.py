"""
A question becomes the few memories that matter: LAND, ANCHOR, EXPAND, DISTILL, TRACE.

*Flow:* `pipeline` calls the phases in this order: LAND is in `signals`, with every signal; `anchor`, `expand`, `distill`, `trace`
have the others. `engines` holds other ways to rank; `render` shows what came out.

*But:* no language model takes part.
"""
