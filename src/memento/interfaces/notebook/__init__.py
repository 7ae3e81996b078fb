"""
Memories in a notebook: `%load_ext memento` gives the cell magic `%%sparql`; `answer` does the same from Python.

*Flow:* a query → `answer` → `Rows` (→ a pandas DataFrame), a truth, or `Triples` (→ a drawing).
"""

from memento.interfaces.notebook.answers import Rows, Triples, answer

__all__ = ["Rows", "Triples", "answer"]
