"""What an audit returns: findings, cases and the `AuditResult` that holds them."""
