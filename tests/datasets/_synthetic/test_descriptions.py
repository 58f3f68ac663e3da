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


def test_the_texts_say_what_could_not_be_made():
    settings = {"n_attributes": 2, "n_values": 2, "granularity": 1, "intersectionality": 1}
    made = make_discrimination(8, n_background=0, **settings, random_state=0)
    n = len(made.truth.rejected)
    assert 0 < n < 8
    assert f"{8 - n} planted pairs" in repr(made.truth)
    assert repr(made.truth).endswith(f", {n} more could not be planted (see rejected)")
    assert made.DESCR.count("Not planted: pair ") == n
