"""How the verdicts of an audit move with settings that are matters of choice, in words."""

from skdisc.report._audit_page import _words as words


def moves(rows, average):
    """Return what the robustness table says about each question.

    Parameters
    ----------
    rows : list of dict
        The rows of `Audit.robustness`; of each question and setting, the first is that of the
        audit itself.
    average : {"rate", "mean"}
        What groups are compared by.

    Returns
    -------
    dict
        ``rows``, one for each question: attribute, question, verdict, level, and ``others``, the
        other verdicts with the settings that lead to them; and ``sentence``, empty without rows.
    """
    questions = {}
    for row in rows:
        questions.setdefault((row["attribute"], row["null"]), []).append(row)
    answers = [_question(*name, several, average) for name, several in questions.items()]
    settings = {(r["setting"], str(r["value"])) for r in rows}
    n_others = len(settings) - len({name for name, _ in settings})
    n_moved = sum(bool(one["others"]) for one in answers)
    sentence = (
        f"The audit was repeated with {n_others} other values of settings, one at a time; "
        f"{n_moved} of {len(answers)} answers differ{'s' * (n_moved == 1)} with some of them."
    )
    return {"rows": answers, "sentence": sentence if rows else ""}


def _question(attribute, null, rows, average):
    """Return the verdict of one question, and the other verdicts with their settings."""
    verdict, settings_by_verdict = rows[0]["verdict"], {}
    for row in rows:
        if row["verdict"] != verdict:
            setting = f"{row['setting']} = {row['value']}"
            settings_by_verdict.setdefault(row["verdict"], []).append(setting)
    return {
        "attribute": str(attribute),
        "question": words.question(null, None, average)[0],
        "verdict": verdict,
        "level": words.level(verdict),
        "others": [
            (words.level(v), v, ", ".join(settings)) for v, settings in settings_by_verdict.items()
        ],
    }
