"""What other programs read of an audit: tables, a database, metrics, JUnit XML, a model card."""
