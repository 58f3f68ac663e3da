"""One module per tool, with one function: find(table, settings)."""
