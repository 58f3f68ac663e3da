"""The one rule of all verdicts: which candidates a question has, and what their data exclude."""
