"""
A provider's address with a memory: requests go on to the provider with what is remembered, answers come back byte for byte.

*Flow:* `door` (which request this is) → `enrich` (`dialects` reads it, `sticky` has the earlier blocks, recall the new one,
`spans` puts them in) → `relay` (there and back).

*Guarantees:* outside of the blocks a request is the client's, byte for byte; whatever fails here, the request goes on.
"""
