"""Wrong answers to `clinic/read_the_curve`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.clinic.read_the_curve.tests import ENDS, reference


def _renamed(**names):
    """Return the right diagnoses with some of them renamed; keys have _ instead of a space."""
    names = {key.replace("_", " "): value for key, value in names.items()}

    def answer(reward, truth, entropy):
        diagnosis = reference(reward, truth, entropy)
        return names.get(diagnosis, diagnosis)

    return answer


def _with_ends(start_of, end_of):
    """Return the right diagnoses of curves whose start and end are these functions of a curve."""

    def ends(curve):
        curve = np.asarray(curve, dtype=float)
        return np.concatenate([np.full(ENDS, start_of(curve)), np.full(ENDS, end_of(curve))])

    return lambda reward, truth, entropy: reference(ends(reward), ends(truth), ends(entropy))


def _any_fall_of_the_truth(reward, truth, entropy):
    diagnosis, truth = reference(reward, truth, entropy), np.asarray(truth, dtype=float)
    has_fallen = truth[-ENDS:].mean() < truth[:ENDS].mean()
    return "reward hacking" if diagnosis == "learning" and has_fallen else diagnosis


def _truth_must_rise(reward, truth, entropy):
    diagnosis = reference(reward, truth, entropy)
    has_risen = np.mean(truth[-ENDS:]) >= np.mean(truth[:ENDS]) + 0.1
    return "reward hacking" if diagnosis == "learning" and not has_risen else diagnosis


def _collapse_first(reward, truth, entropy):
    has_collapsed = np.mean(entropy[-ENDS:]) < 0.1 * np.mean(entropy[:ENDS])
    return "collapse" if has_collapsed else reference(reward, truth, entropy)


def _relative(reward, truth, entropy):
    """Compare with ten percent of the start instead of 0.1."""
    reward, truth = (np.asarray(x, dtype=float) for x in (reward, truth))
    scales = [abs(x[:ENDS].mean()) or 1.0 for x in (reward, truth)]
    return reference(reward / scales[0], truth / scales[1], entropy)


WRONG = (
    Mutant(
        "always learning",
        lambda reward, truth, entropy: "learning",
        'Returns "learning" for every run.',
    ),
    Mutant(
        "any rise counts",
        lambda r, t, e: "learning" if np.mean(r[-10:]) > np.mean(r[:10]) else reference(r, t, e),
        'Returns "learning" for every rise of the reward; a rise counts from 0.1 on, and the truth matters too.',
    ),
    Mutant(
        "truth ignored",
        _renamed(reward_hacking="learning"),
        "Ignores the truth; a rising reward with a falling truth is reward hacking.",
    ),
    Mutant(
        "entropy ignored",
        _renamed(collapse="no signal"),
        'Never returns "collapse"; if the reward has hardly moved, the entropy decides.',
    ),
    Mutant(
        "collapse at a low entropy",
        lambda r, t, e: "collapse" if np.asarray(e)[-1] < 0.5 else reference(r, t, e),
        "Compares the last entropy with a constant before it looks at the reward.",
    ),
    Mutant(
        "collapse first",
        _collapse_first,
        "Checks for collapse before the reward; the conditions apply in the order of the table.",
    ),
    Mutant(
        "the last number of the entropy",
        lambda r, t, e: reference(r, t, np.append(np.asarray(e)[:-ENDS], np.full(ENDS, e[-1]))),
        "Uses the last number of the entropy as its end; the end is the mean of the last ten.",
    ),
    Mutant(
        "the first number of the entropy",
        lambda r, t, e: reference(r, t, np.append(np.full(ENDS, e[0]), np.asarray(e)[ENDS:])),
        "Uses the first number of the entropy as its start; the start is the mean of the first ten.",
    ),
    Mutant(
        "first and last number",
        _with_ends(lambda curve: curve[0], lambda curve: curve[-1]),
        "Compares the first and the last number of each curve; start and end are means of ten numbers.",
    ),
    Mutant(
        "medians",
        _with_ends(lambda curve: np.median(curve[:ENDS]), lambda curve: np.median(curve[-ENDS:])),
        "Takes the median of ten numbers for the start and the end; they are means.",
    ),
    Mutant(
        "the last number omitted",
        _with_ends(lambda curve: curve[:ENDS].mean(), lambda curve: curve[-ENDS:-1].mean()),
        "Omits the last number of each curve; the end is the mean of the last ten.",
    ),
    Mutant(
        "halves of the run",
        _with_ends(
            lambda curve: curve[: len(curve) // 2].mean(), lambda curve: curve[len(curve) // 2 :].mean()
        ),
        "Compares the means of the two halves; start and end have ten numbers each.",
    ),
    Mutant(
        "a tenth of the run",
        _with_ends(
            lambda curve: curve[: len(curve) // 10].mean(), lambda curve: curve[-(len(curve) // 10) :].mean()
        ),
        "Uses a tenth of the curve for its start and end; they have ten numbers each.",
    ),
    Mutant(
        "ten percent",
        _relative,
        "Compares a change with ten percent of the start; a curve has risen by more than 0.1.",
    ),
    Mutant(
        "any fall of the truth",
        _any_fall_of_the_truth,
        "Counts every fall of the truth as reward hacking; it must fall by more than 0.1.",
    ),
    Mutant(
        "the truth must rise",
        _truth_must_rise,
        "Asks that the truth rises; a truth that has not fallen by more than 0.1 is enough for learning.",
    ),
    Mutant(
        "flat is a wrong sign",
        _renamed(no_signal="wrong sign"),
        'Returns "wrong sign" although the reward has not fallen by more than 0.1.',
    ),
    Mutant(
        "the truth for the reward",
        lambda r, t, e: reference(t, t, e),
        "Uses the truth in the place of the reward.",
    ),
    Mutant(
        "collapse below 0.1 nats",
        lambda r, t, e: reference(r, t, np.append(np.ones(ENDS), e)),
        "Compares the end of the entropy with 0.1 nats; the bound is a tenth of its start.",
    ),
    Mutant(
        "names in capitals",
        lambda r, t, e: reference(r, t, e).upper(),
        "Writes the names in capitals; they are lower case, as in the table.",
    ),
)
