"""The functions that answer operations, by topic: each receives the operation and a context, and nothing else."""

from memento.service.handlers import care, graphs, imports, intake, notes, recall, sessions

__all__ = ["care", "graphs", "imports", "intake", "notes", "recall", "sessions"]
