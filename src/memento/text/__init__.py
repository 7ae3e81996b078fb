"""
Language, read in one place: for notes, for questions and for keys.

*Guarantees:* everything here is pure. It reads no graph and no settings, and the same text is always read the same way.
"""
