"""
Language analysis for notes, questions and keys, in one place.

*Guarantees:* every function is pure. It reads no graph and no settings, and the same text always gives the same result.
"""
