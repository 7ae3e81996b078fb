"""
Other ways to rank than the signals, one file each, for comparison or for callers who ask for them by name.

Each is one function that takes a question, how many memories are wanted and what it looks at, and returns the memories best first;
it writes nothing, and what finding them does to them comes back as effects.
"""
