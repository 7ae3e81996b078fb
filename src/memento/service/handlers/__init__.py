"""The functions that answer operations, by topic: each receives the operation and a context, and nothing else."""

from memento.service.handlers import capture, care, graphs, imports, notes, recall, sessions

__all__ = ["capture", "care", "graphs", "imports", "notes", "recall", "sessions"]
