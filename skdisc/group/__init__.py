"""Verdicts on whole groups: who is treated worse, by how much, and how surely."""

__all__ = []
