"""`make_discrimination`: people, planted pairs, outcomes and their truth."""
