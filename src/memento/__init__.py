"""Memento."""
