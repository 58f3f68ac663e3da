"""What was made is described: in the text of the truth, and in DESCR."""

from skdisc.datasets import make_discrimination


def test_the_texts_say_what_was_made():
    made = make_discrimination(5, null_fraction=0.4, n_background=100, random_state=0)
    n = len(made.data)
    text = f"Truth of {n:,} people: 5 planted pairs of subgroups, 2 of them without bias"
    assert repr(made.truth) == text
    assert made.DESCR.startswith(f"{text}.\nProtected columns: {', '.join(made.protected)}. ")
    for k, subgroup in enumerate(made.truth.subgroups):
        assert str(subgroup) in made.DESCR
        assert f"{made.truth.law.bias[k]:.3g}" in made.DESCR
    assert all(name in made.DESCR for name in made.feature_names)
