"""SliceFinder and SliceLine."""
