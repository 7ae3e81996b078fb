"""
The proxy for model providers: it adds memories to requests, forwards them, and returns the answers byte for byte.

*Flow:* `routes` (which request this is) → `blocks` (`dialects` parses it; the earlier blocks and a new one from recall are
inserted) → `relay` (to the provider and back).

*Guarantees:* outside of the blocks, a request is forwarded byte for byte. If enriching it fails, it is forwarded without memories.
"""
