"""A fuzz suite: every call answers right, or with an error that names the problem.

``python -m skdisc.testing.fuzz --n 500`` runs cases, ``--case 123`` repeats one.
"""
