"""
Read language, in one place, for notes, questions and keys.

*Guarantees:* every function is pure. It reads no graph and no settings, and the same text always gives the same result.
"""
