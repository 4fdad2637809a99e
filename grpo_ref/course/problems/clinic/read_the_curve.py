"""Exercise: diagnose a training run from its curves."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import Context, Made
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import Case, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.course.grading.sampled_check import FromDomain
from grpo_ref.learning.policies.table import policy_of

UPDATES, ENDS = 60, 10
"""Length of a simulated run, and of the two ends that are compared, in updates."""
RISES = {f"{rise:g}": rise for rise in (-1.0, -0.3, -0.101, -0.099, 0.0, 0.05, 0.099, 0.101, 0.3, 1.0)}
SHARES = {f"{share:g}": share for share in (0.0, 0.02, 0.097, 0.103, 0.3, 1.0, 1.3)}


def _between(context: Context, first: Any, last: Any, noise: float) -> Any:
    """Sample a curve whose ends have these means, with a hump or a dip in the middle."""
    source, (length,) = context.source, context.shape("U")
    time = np.linspace(0.0, 1.0, length)
    middle = source.pick("middle", {"straight": 0.0, "a hump": 1.0, "a dip": -1.0})
    curve = first + (last - first) * time + 2.0 * (first + 0.2) * middle * time * (1.0 - time)
    curve = curve + source.reals(-noise, noise, (length,))
    zeros = source.pick("zeros at the ends", {"no": False, "some": True})
    for end, mean in ((slice(None, ENDS), first), (slice(-ENDS, None), last)):
        curve[end] += mean - curve[end].mean()
        if zeros:
            curve[end] = _some_zeros(source.flags((ENDS,)), mean)
    return curve


def _some_zeros(others: Any, mean: float) -> Any:
    """Return zeros and one other number, with this mean."""
    others[0] = True
    return mean * others / others.mean()


def _whole(context: Context, name: str, values: tuple[int, ...]) -> Any:
    """Sample a curve of integers whose ends are zeros and twos; one of `values` is the number of twos at each
    end.
    """
    source, (length,) = context.source, context.shape("U")
    curve = 2 * np.floor(source.reals(0.0, 2.0 - 1e-9, (length,))).astype(np.int64)
    for end in (slice(None, ENDS), slice(-ENDS, None)):
        twos = source.pick(f"{name}: twos at an end", {str(count): count for count in values})
        curve[end] = np.where(np.arange(ENDS) < twos, 2, 0)
    return curve


def _are_whole(context: Context) -> bool:
    """Return whether the curves of this input are integers, as the first one is."""
    return np.asarray(context.values["reward"]).dtype.kind == "i"


def _score(name: str) -> Any:
    def draw(context: Context) -> Any:
        kinds = {"fractions": False, "more fractions": False, "integers": True}
        if context.source.pick("reward: kind", kinds) if name == "reward" else _are_whole(context):
            return _whole(context, name, (0, 1, 3, 6, 10))
        start = float(context.source.reals(0.0, 1.0, ()))
        rise = context.source.pick(f"{name}: rise", RISES)
        noise = context.source.pick(f"{name}: noise", {"none": 0.0, "little": 0.03, "much": 0.3})
        return _between(context, start, start + rise, noise)

    return draw


def _entropy(context: Context) -> Any:
    if _are_whole(context):
        return _whole(context, "entropy", (0, 3, 10))
    start = float(context.source.reals(0.2, 3.0, ()))
    share = context.source.pick("entropy: what is left", SHARES)
    noise = context.source.pick("entropy: noise", {"none": 0.0, "little": 0.05})
    return np.maximum(_between(context, start, share * start, noise * start * min(share, 1.0)), 0.0)


DOMAIN = Domain(
    {
        "reward": Made(
            _score("reward"), "one number per update", meaning="what the policy was paid, shape (U,)"
        ),
        "truth": Made(
            _score("truth"),
            "one number per update",
            needs=frozenset({"reward"}),
            meaning="what you really wanted, shape (U,)",
        ),
        "entropy": Made(
            _entropy,
            "one number per update, not negative",
            needs=frozenset({"reward"}),
            meaning="in nats, shape (U,)",
        ),
    },
    sizes={"U": (20, 60)},
    large={"U": 300},
)


def _reference(reward: Any, truth: Any, entropy: Any) -> str:
    reward, truth, entropy = (np.asarray(x, dtype=float) for x in (reward, truth, entropy))
    gained, meant = (x[-ENDS:].mean() - x[:ENDS].mean() for x in (reward, truth))
    if gained < -0.1:
        return "wrong sign"
    if gained > 0.1:
        return "reward hacking" if meant < -0.1 else "learning"
    return "collapse" if entropy[-ENDS:].mean() < 0.1 * entropy[:ENDS].mean() else "no signal"


def simulate(rng: "np.random.Generator", illness: str) -> tuple[Any, ...]:
    """Run a real training: a policy over six arms, updated by its exact expected gradient, with noise on its
    curves.
    """
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


def _run(illness: str) -> tuple[Any, ...]:
    return simulate(np.random.default_rng(0), illness)


def _of(**renamed: str) -> Function:
    """Return the right diagnoses with some of them renamed; keys have _ instead of a space."""
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
        "Before you open the code, look at the curves. A run of reinforcement learning is usually watched by three of"
        " them: the reward, which is what the policy is paid; the truth, which is what you really wanted (a rate of"
        " solved exercises, say), measured on the side and never trained on; and the entropy, which says how"
        " undecided the policy is, from log V for V equally likely choices down to 0 when it always does the same."
        " Four illnesses show in these three curves, and each of them has another remedy."
    ),
    task=(
        "Write `diagnose(reward, truth, entropy)`, which returns one of five names. The start of a curve is the mean"
        " of its first ten numbers, its end the mean of its last ten. A curve has risen if its end is more than 0.1"
        " above its start, and fallen if it is more than 0.1 below. Ask in this order; the first that holds"
        " counts:\n\n"
        '    "wrong sign"        the reward has fallen\n'
        '    "reward hacking"    the reward has risen and the truth has fallen\n'
        '    "learning"          the reward has risen\n'
        '    "collapse"          the end of the entropy is below a tenth of its start\n'
        '    "no signal"         none of these'
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="One of the five names, written as above.",
    constraints=(
        "All three curves have the same length U.\n"
        "A truth that has risen, or not moved, makes no difference: a rising reward is then learning.\n"
        "No difference between start and end is exactly 0.1, and no entropy ends at exactly a tenth of its start, as one of zeros throughout does."
    ),
    notes=(
        "The four illnesses: a sign turned over in the loss; a reward that does not measure what was wanted"
        " (Gao et al. 2022, arXiv:2210.10760); a policy that makes up its mind before it has found anything; and"
        " groups in which all rewards are equal, so that every advantage is 0. docs/howto/symptoms.md has them under the"
        " names of trainers' metrics, and `grpo-ref diagnose LOG CONFIG` reads the log of a trainer."
    ),
    source="Yu et al. 2025, DAPO, sec. 3 and 4 (arXiv:2503.14476), on which curves to watch.",
    hints=(
        "Which of the three curves tells most of the five names apart?",
        "Compare the mean of the last ten updates with that of the first ten, and ask about the reward first.",
        "If the reward has hardly moved: entropy[-10:].mean() < 0.1 * entropy[:10].mean() is a collapse.",
    ),
    checks=(
        Case(
            "A step in the middle",
            ([0.3] * 10 + [0.7] * 10, [0.5] * 20, [1.8] * 10 + [1.0] * 10),
            "learning",
            why="The reward goes from 0.3 to 0.7, which is more than 0.1; the truth has not fallen.",
            shown=True,
        ),
        Case(
            "Decided too early",
            ([0.5] * 20, [0.2] * 10 + [0.9] * 10, [1.8] * 10 + [0.1] * 10),
            "collapse",
            why="The reward has not moved, so the entropy decides: it ends at 0.1, and a tenth of its start is 0.18."
            " Where the truth went is not asked.",
            shown=True,
        ),
        Case(
            "Entropy from nothing",
            ([0.5] * 20, [0.5] * 20, [0.0] * 10 + [1.0] * 10),
            "no signal",
            why="a tenth of a start of 0 is 0, and the entropy does not end below that",
        ),
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
        FromDomain(count=48),
        *found_cases(__file__),
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
        Mutant(
            "the last number of the entropy",
            lambda r, t, e: _reference(r, t, np.append(np.asarray(e)[:-ENDS], np.full(ENDS, e[-1]))),
            "The end of the entropy is the mean of its last ten numbers, not the last one.",
        ),
        Mutant(
            "the first number of the entropy",
            lambda r, t, e: _reference(r, t, np.append(np.full(ENDS, e[0]), np.asarray(e)[ENDS:])),
            "The start of the entropy is the mean of its first ten numbers, not the first one.",
        ),
        Mutant(
            "the truth has to rise",
            lambda r, t, e: (
                "reward hacking"
                if _reference(r, t, e) == "learning" and np.mean(t[-ENDS:]) < np.mean(t[:ENDS]) + 0.1
                else _reference(r, t, e)
            ),
            "A truth that has not moved is no hacking.",
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
