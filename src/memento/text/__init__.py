"""
Read language, in one place, for notes, questions and keys.

*Guarantees:* everything here is pure. It reads no graph and no settings, and the same text is always read the same way.
"""
