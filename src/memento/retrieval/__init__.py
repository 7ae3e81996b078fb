"""
A question becomes the few memories that matter: LAND, ANCHOR, EXPAND, DISTILL, TRACE.

*Flow:* `pipeline` calls `land`, `anchor`, `expand`, `distill`, `trace` in this order; `render` shows what came out.

*But:* no language model takes part.
"""
