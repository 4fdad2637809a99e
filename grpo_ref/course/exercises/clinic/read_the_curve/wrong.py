"""Wrong answers to `clinic/read_the_curve`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.clinic.read_the_curve.tests import ENDS, reference


def _of(**renamed):
    """Return the right diagnoses with some of them renamed; keys have _ instead of a space."""
    names = {key.replace("_", " "): value for key, value in renamed.items()}

    def answer(reward, truth, entropy):
        found = reference(reward, truth, entropy)
        return names.get(found, found)

    return answer


WRONG = (
    Mutant("always healthy", lambda reward, truth, entropy: "learning", "It cries health whatever it sees."),
    Mutant(
        "any rise counts",
        lambda r, t, e: "learning" if np.mean(r[-10:]) > np.mean(r[:10]) else reference(r, t, e),
        "A rise within the noise is none.",
    ),
    Mutant(
        "never looks at the truth",
        _of(reward_hacking="learning"),
        "The reward alone cannot tell learning from hacking.",
    ),
    Mutant(
        "never looks at the entropy",
        _of(collapse="no signal"),
        "A policy that has made up its mind is not one without a signal.",
    ),
    Mutant(
        "collapse whenever the entropy is low",
        lambda r, t, e: "collapse" if np.asarray(e)[-1] < 0.5 else reference(r, t, e),
        "A policy that has learned is decided too; collapse is to be decided and no better.",
    ),
    Mutant(
        "the last number of the entropy",
        lambda r, t, e: reference(r, t, np.append(np.asarray(e)[:-ENDS], np.full(ENDS, e[-1]))),
        "The end of the entropy is the mean of its last ten numbers, not the last one.",
    ),
    Mutant(
        "the first number of the entropy",
        lambda r, t, e: reference(r, t, np.append(np.full(ENDS, e[0]), np.asarray(e)[ENDS:])),
        "The start of the entropy is the mean of its first ten numbers, not the first one.",
    ),
    Mutant(
        "the truth has to rise",
        lambda r, t, e: (
            "reward hacking"
            if reference(r, t, e) == "learning" and np.mean(t[-ENDS:]) < np.mean(t[:ENDS]) + 0.1
            else reference(r, t, e)
        ),
        "A truth that has not moved is no hacking.",
    ),
    Mutant("flat is a wrong sign", _of(no_signal="wrong sign"), "A flat curve has not fallen."),
    Mutant(
        "the truth for the reward",
        lambda r, t, e: reference(t, t, e),
        "Hacking looks like falling if one reads the truth for the reward.",
    ),
    Mutant(
        "names in capitals",
        lambda r, t, e: reference(r, t, e).upper(),
        "The five names are written as in the statement.",
    ),
)
