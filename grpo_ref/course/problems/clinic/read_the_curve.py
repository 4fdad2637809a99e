"""What is wrong with this run?"""

from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import Case, Drawn, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.learning.policies.table import policy_of

UPDATES = 60


def _reference(reward: Any, truth: Any, entropy: Any) -> str:
    reward, truth, entropy = (np.asarray(x, dtype=float) for x in (reward, truth, entropy))
    gained, meant = (x[-10:].mean() - x[:10].mean() for x in (reward, truth))
    if gained < -0.1:
        return "wrong sign"
    if gained > 0.1:
        return "reward hacking" if meant < -0.1 else "learning"
    return "collapse" if entropy[-10:].mean() < 0.1 * entropy[0] else "no signal"


def simulate(rng: "np.random.Generator", illness: str) -> tuple[Any, ...]:
    """A real run: a policy over six arms, by its exact expected gradient, its curves seen through noise."""
    worth = rng.permutation([0.2, 0.3, 0.4, 0.5, 0.6, 1.0])
    paid = 1.2 - worth if illness == "reward hacking" else worth
    logits, curves = np.zeros(6), []
    trap = int(np.flatnonzero(worth == 0.5)[0])
    for _ in range(UPDATES):
        policy = policy_of(logits)
        curves.append((policy.probs @ paid, policy.probs @ worth, float(policy.entropies())))
        gradient = policy.probs * (paid - policy.probs @ paid)
        if illness == "collapse":
            gradient = policy.probs[trap] * ((np.arange(6) == trap) - policy.probs)
        logits = logits + {"wrong sign": -1.5, "no signal": 0.0}.get(illness, 1.5) * gradient
    reward, truth, entropy = np.array(curves).T
    noise = rng.normal(0.0, 0.02, (2, UPDATES))
    return reward + noise[0], truth + noise[1], entropy


ILLNESSES = ("learning", "wrong sign", "no signal", "collapse", "reward hacking")


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    return simulate(rng, ILLNESSES[rng.integers(len(ILLNESSES))])


def _run(illness: str) -> tuple[Any, ...]:
    return simulate(np.random.default_rng(0), illness)


def _of(**renamed: str) -> Function:
    """The right diagnosis, some of them given another name; keys have _ for a space."""
    names = {key.replace("_", " "): value for key, value in renamed.items()}

    def answer(reward: Any, truth: Any, entropy: Any) -> str:
        found = _reference(reward, truth, entropy)
        return names.get(found, found)

    return answer


PROBLEM = Problem(
    id="clinic/read_the_curve",
    title="What is wrong with this run?",
    function="diagnose",
    reference=_reference,
    background=(
        "Before you open the code, look at the curves. Four illnesses show in three of them: what the policy is paid, what"
        " you really wanted (measured on the side, never trained on), and how undecided it is."
    ),
    task=(
        "Write `diagnose(reward, truth, entropy)`, which names what it sees:\n\n"
        '    "learning"          both the reward and the truth have risen\n'
        '    "reward hacking"    the reward has risen while the truth has fallen\n'
        '    "wrong sign"        the reward has fallen\n'
        '    "collapse"          the policy has made up its mind (entropy near 0) and the reward is hardly better\n'
        '    "no signal"         nothing has moved, and the policy is as undecided as at the start'
    ),
    inputs="reward, truth: (60,) one number per update, about 0 to 1.2, with noise of 0.02.\nentropy: (60,) nats.",
    output="One of the five names.",
    constraints="The curves come from real runs with six arms.\nRisen and fallen mean by more than 0.1 from the mean of the first ten updates to that of the last ten.\nThe reward is asked first: if it has risen and the truth has not fallen, the run is learning. Only if it has done neither does the entropy decide, near 0 meaning below a tenth of its start.",
    source="open-r1 #239 and TRL #3857 are reports of runs that nobody could read.",
    hints=(
        "Which of the three curves tells most of the five names apart?",
        "Compare the mean of the last ten updates with that of the first ten, and ask about the reward first.",
        "If the reward has hardly moved, the entropy decides: below a tenth of its start the policy has collapsed.",
    ),
    checks=(
        Case("A healthy run", _run("learning"), "learning", why="reward and truth rise together"),
        Case(
            "Paid for the wrong thing",
            _run("reward hacking"),
            "reward hacking",
            why="the reward rises, the truth falls",
        ),
        Case("Downhill", _run("wrong sign"), "wrong sign", why="the reward falls"),
        Case(
            "Made up its mind too early",
            _run("collapse"),
            "collapse",
            why="no entropy is left, little was gained",
        ),
        Case("Nothing happens", _run("no signal"), "no signal", why="all curves are flat"),
        Unchanged(_run("learning")),
        Drawn("Random runs agree", _draw, why="all five, with fresh noise"),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "always healthy", lambda reward, truth, entropy: "learning", "It cries health whatever it sees."
        ),
        Mutant(
            "any rise counts",
            lambda r, t, e: "learning" if np.mean(r[-10:]) > np.mean(r[:10]) else _reference(r, t, e),
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
            lambda r, t, e: "collapse" if np.asarray(e)[-1] < 0.5 else _reference(r, t, e),
            "A policy that has learned is decided too; collapse is to be decided and no better.",
        ),
        Mutant("flat is a wrong sign", _of(no_signal="wrong sign"), "A flat curve has not fallen."),
        Mutant(
            "the truth for the reward",
            lambda r, t, e: _reference(t, t, e),
            "Hacking looks like falling if one reads the truth for the reward.",
        ),
        Mutant(
            "names in capitals",
            lambda r, t, e: _reference(r, t, e).upper(),
            "The five names are written as in the statement.",
        ),
    ),
    others={"by the sums": lambda r, t, e: _reference(list(r), list(t), list(e))},
)
