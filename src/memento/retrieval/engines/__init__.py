"""
Other ways to rank than by the signals, one file each, for comparison or for callers who request them by name.

Each engine is one function: it takes a question, how many memories are wanted and what to search, and returns the memories best
first. It writes nothing; what being found changes in a memory is returned as effects.
"""
