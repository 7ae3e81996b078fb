"""
A provider's address with a memory: requests go on to the provider with what is remembered, answers come back byte for byte.

*Flow:* `routes` (which request this is) → `blocks` (`dialects` reads it; the earlier blocks, and a new one from recall, are put
in) → `relay` (there and back).

*Guarantees:* outside of the blocks a request is the client's, byte for byte; whatever fails here, the request goes on.
"""
