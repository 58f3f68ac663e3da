"""What was tested of each step: the score, and the gap between which groups, with both z and p."""

from scipy.special import ndtr

from skdisc.model_selection._alternatives._costs import pair_in_words

_TIE = 1e-9


def tested_gaps(question, present, alternative, pairs):
    """Return which gap of the present model was tested, and the largest ones, by column.

    Parameters
    ----------
    question : Question
        About the people of the claim.
    present, alternative : Predictions
    pairs : dict of column to array-like of shape (2,) or (n_parts, 2)
        The two groups to which the present model is held, without these people.

    Returns
    -------
    list of dict
        ``pair`` in words, and its groups, ``higher`` and ``lower``, which are None if each part has
        its pair; ``before`` and ``after``, the gap between these two by both models, which
        is negative if it is reversed; and the largest gap by each model, with its pair.
    """
    rows = []
    for name, pair in pairs.items():
        groups = question.groups[name]
        pair_before, largest_before = question.gap(present, name)
        pair_after, largest_after = question.gap(alternative, name)
        before = question.gap_in_pair(present, name, pair)
        is_one_pair = not question.by_part
        rows.append(
            {
                "column": name,
                "higher": groups.names[pair[0]] if is_one_pair else None,
                "lower": groups.names[pair[1]] if is_one_pair else None,
                "pair": pair_in_words(groups, pair),
                "before": before,
                "after": question.gap_in_pair(alternative, name, pair),
                "largest_before": largest_before,
                "pair_of_largest_before": pair_in_words(groups, pair_before),
                "largest_after": largest_after,
                "pair_of_largest_after": pair_in_words(groups, pair_after),
                "is_largest": not largest_before - before > _TIE,
            }
        )
    return rows


def test_of_step(question, present, alternative, pairs, step):
    """Return the two tests of a step of the ladder: estimates, z and p of each."""
    column, pair = question.hardest(present, alternative, pairs)
    return {
        "score_before": question.score(present),
        "score_after": question.score(alternative),
        "score_z": step.score_z,
        "score_p": float(ndtr(-step.score_z)),
        "gap_column": column,
        "gap_before": question.gap_in_pair(present, column, pairs[column]),
        "gap_after": question.gap(alternative, column)[1],
        "gain_z": step.gain_z,
        "gain_p": float(ndtr(-step.gain_z)),
        "hardest_pair": None if pair is None else pair_in_words(question.groups[column], pair),
        "p_value": step.p_value,
        "shown": step.shown,
    }
