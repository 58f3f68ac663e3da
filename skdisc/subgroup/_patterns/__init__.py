"""Discrimination patterns of naive Bayes models, and a fair naive Bayes."""
