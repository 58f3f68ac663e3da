"""One run of a detector: its task, budget, notes and card."""
