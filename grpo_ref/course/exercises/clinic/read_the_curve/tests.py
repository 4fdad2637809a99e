"""The tests of `clinic/read_the_curve`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Domain, Made, Unchanged
from grpo_ref.learning.policies.table import policy_of

UPDATES, ENDS = 60, 10

RISES = {f"{rise:g}": rise for rise in (-1.0, -0.3, -0.101, -0.099, 0.0, 0.05, 0.099, 0.101, 0.3, 1.0)}

SHARES = {f"{share:g}": share for share in (0.0, 0.02, 0.097, 0.103, 0.3, 1.0, 1.3)}


def _between(context, first, last, noise):
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


def _some_zeros(others, mean):
    """Return zeros and one other number, with this mean."""
    others[0] = True
    return mean * others / others.mean()


def _whole(context, name, values):
    """Sample a curve of integers whose ends are zeros and twos; one of `values` is the number of twos at each
    end.
    """
    source, (length,) = context.source, context.shape("U")
    curve = 2 * np.floor(source.reals(0.0, 2.0 - 1e-9, (length,))).astype(np.int64)
    for end in (slice(None, ENDS), slice(-ENDS, None)):
        twos = source.pick(f"{name}: twos at an end", {str(count): count for count in values})
        curve[end] = np.where(np.arange(ENDS) < twos, 2, 0)
    return curve


def _are_whole(context):
    """Return whether the curves of this input are integers, as the first one is."""
    return np.asarray(context.values["reward"]).dtype.kind == "i"


def _score(name):
    def draw(context):
        kinds = {"fractions": False, "more fractions": False, "integers": True}
        if context.source.pick("reward: kind", kinds) if name == "reward" else _are_whole(context):
            return _whole(context, name, (0, 1, 3, 6, 10))
        start = float(context.source.reals(0.0, 1.0, ()))
        rise = context.source.pick(f"{name}: rise", RISES)
        noise = context.source.pick(f"{name}: noise", {"none": 0.0, "little": 0.03, "much": 0.3})
        return _between(context, start, start + rise, noise)

    return draw


def _entropy(context):
    if _are_whole(context):
        return _whole(context, "entropy", (0, 3, 10))
    start = float(context.source.reals(0.2, 3.0, ()))
    share = context.source.pick("entropy: what is left", SHARES)
    noise = context.source.pick("entropy: noise", {"none": 0.0, "little": 0.05})
    return np.maximum(_between(context, start, share * start, noise * start * min(share, 1.0)), 0.0)


DOMAIN = Domain(
    {
        "reward": Made(_score("reward"), "−20 to 20", axes="U", meaning="mean reward of each update"),
        "truth": Made(
            _score("truth"),
            "−20 to 20",
            axes="U",
            needs=frozenset({"reward"}),
            meaning="your actual goal, measured in each update",
        ),
        "entropy": Made(
            _entropy,
            "0 to 40",
            axes="U",
            needs=frozenset({"reward"}),
            meaning="of the policy, in nats",
        ),
    },
    sizes={"U": (20, 60)},
    large={"U": 300},
)


def reference(reward, truth, entropy):
    reward, truth, entropy = (np.asarray(x, dtype=float) for x in (reward, truth, entropy))
    gained, meant = (x[-ENDS:].mean() - x[:ENDS].mean() for x in (reward, truth))
    if gained < -0.1:
        return "wrong sign"
    if gained > 0.1:
        return "reward hacking" if meant < -0.1 else "learning"
    return "collapse" if entropy[-ENDS:].mean() < 0.1 * entropy[:ENDS].mean() else "no signal"


def simulate(rng, problem):
    """Run a real training: a policy over six arms, updated by its exact expected gradient, with noise on its
    curves.
    """
    worth = rng.permutation([0.2, 0.3, 0.4, 0.5, 0.6, 1.0])
    paid = 1.2 - worth if problem == "reward hacking" else worth
    logits, curves = np.zeros(6), []
    trap = int(np.flatnonzero(worth == 0.5)[0])
    for _ in range(UPDATES):
        policy = policy_of(logits)
        curves.append((policy.probs @ paid, policy.probs @ worth, float(policy.entropies())))
        gradient = policy.probs * (paid - policy.probs @ paid)
        if problem == "collapse":
            gradient = policy.probs[trap] * ((np.arange(6) == trap) - policy.probs)
        logits = logits + {"wrong sign": -1.5, "no signal": 0.0}.get(problem, 1.5) * gradient
    reward, truth, entropy = np.array(curves).T
    noise = rng.normal(0.0, 0.02, (2, UPDATES))
    return reward + noise[0], truth + noise[1], entropy


def _run(problem):
    return simulate(np.random.default_rng(0), problem)


SAMPLED = 48
HIGHER_REWARD = [0.3] * 10 + [0.7] * 10
CHECKS = (
    Case(
        "The reward rises",
        (HIGHER_REWARD, [0.5] * 20, [1.8] * 10 + [1.0] * 10),
        "learning",
        why="The reward rises from 0.3 to 0.7, and the truth stays at 0.5.",
        shown=True,
    ),
    Case(
        "The same reward, but the truth falls",
        (HIGHER_REWARD, [0.6] * 10 + [0.3] * 10, [1.8] * 10 + [1.0] * 10),
        "reward hacking",
        why="The reward rises from 0.3 to 0.7, and the truth falls from 0.6 to 0.3.",
        shown=True,
    ),
    Case(
        "The reward does not move",
        ([0.5] * 20, [0.2] * 10 + [0.9] * 10, [1.8] * 10 + [0.1] * 10),
        "collapse",
        why="The entropy ends at 0.1, which is below a tenth of 1.8. The truth does not matter here.",
        shown=True,
    ),
    Case(
        "The entropy starts at 0",
        ([0.5] * 20, [0.5] * 20, [0.0] * 10 + [1.0] * 10),
        "no signal",
        why="A tenth of the start is 0, and the end is not below 0.",
    ),
    Case(
        "The entropy is 0 throughout",
        ([0.5] * 20, [0.5] * 20, [0.0] * 20),
        "no signal",
        why="A tenth of the start is 0, and 0 is not below 0.",
    ),
    Case("A healthy run", _run("learning"), "learning", why="Reward and truth rise together."),
    Case(
        "A wrong reward", _run("reward hacking"), "reward hacking", why="The reward rises, the truth falls."
    ),
    Case("A wrong sign", _run("wrong sign"), "wrong sign", why="The reward falls."),
    Case(
        "A policy that is certain too early",
        _run("collapse"),
        "collapse",
        why="The entropy falls to 0, and the reward hardly changes.",
    ),
    Case("Nothing is learned", _run("no signal"), "no signal", why="All curves are flat."),
    Unchanged(_run("learning")),
)
