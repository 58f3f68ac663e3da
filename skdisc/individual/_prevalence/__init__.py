"""How often decisions depend on protected columns: Themis and ExactTree."""
