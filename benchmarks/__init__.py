"""Scripts that back the claims of the documentation."""
