"""The batched search for individual cases that several detectors share."""
