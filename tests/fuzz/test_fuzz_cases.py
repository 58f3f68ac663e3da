"""500 cases with a fixed seed: every answer is right, or an error that names the problem."""

import pytest
from fuzzing._judge import OTHER
from fuzzing._runner import KINDS, numbers_of, run_cases


@pytest.mark.slow  # very many
@pytest.mark.parametrize("kind", KINDS)
def test_no_case_has_another_outcome(kind):
    others = [str(o) for o in run_cases(numbers_of(125, kind), limit=30) if o.verdict == OTHER]
    assert not others, "\n" + "\n".join(others)
