"""
Other ways to rank than by the signals, one file each, for comparison or for callers who request them by name.

Each engine is one function: it takes a question, the number of memories wanted and what to search, and returns the memories best
first. It writes nothing; the changes that a retrieval makes to a memory are returned as effects.
"""
