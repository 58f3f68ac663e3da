"""A fuzz suite: every call answers right, or with an error that names the problem.

``PYTHONPATH=tests python -m fuzzing --n 500`` runs cases, ``--case 123`` repeats one.
"""
