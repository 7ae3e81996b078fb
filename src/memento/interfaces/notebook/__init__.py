"""
Memories in a notebook: `%load_ext memento` gives the cell magic `%%sparql`; `answer` does the same from Python.

*Flow:* a query → `answered` → `rows.Rows` (→ a pandas DataFrame), a truth, or `triples.Triples` (→ a drawing).
"""

from memento.interfaces.notebook.answered import answer
from memento.interfaces.notebook.rows import Rows
from memento.interfaces.notebook.triples import Triples

__all__ = ["Rows", "Triples", "answer"]
