"""Pictures of results. Needs the extra ``plot``."""

__all__ = []
