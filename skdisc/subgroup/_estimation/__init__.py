"""From frequent groups to findings: outcomes, estimates, tests and confirmation."""
