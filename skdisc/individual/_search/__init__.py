"""The batched search for individual cases, shared by several detectors."""
