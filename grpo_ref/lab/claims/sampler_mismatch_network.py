"""Claim: a sampler of low precision biases the gradient of a network, and importance weights repair it."""

from functools import cache
from itertools import product

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.corrections import masked, truncated
from grpo_ref.lab.framework.experiment import (
    Experiment,
    Grid,
    Measures,
    Points,
    Prediction,
    arm,
    tuned,
)
from grpo_ref.lab.framework.low_precision import BITS, Pair, pair
from grpo_ref.lab.framework.network import IMITATES, MLP, RATES, TASKS, sums
from grpo_ref.lab.framework.tasks.digit_sums import PLAIN, labelled_answers
from grpo_ref.lab.framework.training import summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.optim import Adam
from grpo_ref.learning.policies.neural import NeuralActor
from grpo_ref.learning.policies.table import pull_back
from grpo_ref.learning.rollout import draw
from grpo_ref.learning.task import Task
from grpo_ref.levels import sequence_sum_level
from grpo_ref.recipes import Slot, slot
from grpo_ref.tasks.arithmetic import EOS
from grpo_ref.training import iter_train

CAP = 2.0
"""The largest ratio of learner to sampler that is not truncated or masked; verl's and Open Instruct's."""
COPIES, QUESTIONS, BEFORE = 5, 4, 5
"""Prompts of each question; questions whose gradient is measured, and updates before that."""
SAMPLES, BATCH = 256, 512
"""Completions from which a variance is estimated, and those over which a gradient is a mean."""
UPDATES, PROMPTS, GROUP = 60, 16, 8


def weights_of(correction: Slot | None, learner: Floats, sampler: Floats, mask: Bools) -> Floats:
    """(..., P, G, T) the importance weights, 1 without a correction."""
    if correction is None:
        return np.ones(learner.shape)
    weights: Floats = correction(old_log_probs=learner, rollout_log_probs=sampler, mask=mask)
    return weights


@cache
def _learner(seed: int, seeds: int) -> tuple[Task, NeuralActor]:
    """A task and networks that have begun to learn it."""
    task, policy = sums(seed, COPIES, kind=MLP)
    config = config_for(task, MLP, seeds=seeds, seed=seed, updates=BEFORE, learning_rate=0.003)
    *_, last = iter_train(task, PLAIN, config, metrics=(), policy=policy)
    return task, policy.at(last.state.params.astype(np.float64), 1.0)


def listing(length: int) -> tuple[Integers, Bools]:
    """Tokens and mask (M, T) of all completions."""
    tokens = np.array(list(product(range(EOS + 1), repeat=length)))
    ended = np.cumsum(tokens == EOS, axis=-1) - (tokens == EOS) > 0
    once = ((tokens == 0) | ~ended).all(-1)
    return tokens[once], ~ended[once]


def errors(*, correction: Slot | None, seeds: int, seed: int) -> Measures:
    """The error of the gradient of a batch: its bias exactly, its variance from some completions."""
    task, actor = _learner(seed, seeds)
    return {
        f"{name}, {precision}": value
        for precision in LOW
        for name, value in _errors(task, pair(actor, BITS[precision]), correction, seed).items()
    }


def _errors(task: Task, duo: Pair, correction: Slot | None, seed: int) -> Measures:
    """Return the errors on some questions; completions are weighted by probability, so the bias is exact."""
    generator = np.random.default_rng([seed, 6])
    runs, (listed, mask) = len(duo.learner.params), listing(task.max_length)
    asked = COPIES * generator.permutation(len(task.prompts) // COPIES)[:QUESTIONS]
    copies = (asked[:, None] + np.arange(COPIES)).ravel()
    every = (len(copies), *listed.shape)
    judged = task.verify(copies, np.broadcast_to(listed, every), np.broadcast_to(mask, every))
    rewards = judged[..., -1].reshape(QUESTIONS, COPIES, -1).mean(1)
    prompts = np.broadcast_to(asked, (runs, QUESTIONS))
    tokens = np.broadcast_to(listed, (runs, QUESTIONS, *listed.shape))
    said, drawn = (one.visit(task, prompts, tokens, tokens) for one in duo)
    chances, sampled = (np.exp((one.log_probs * mask).sum(-1)) for one in (said, drawn))
    weights = weights_of(correction, said.log_probs, drawn.log_probs, np.broadcast_to(mask, tokens.shape))
    baselines = (sampled * rewards).sum(-1, keepdims=True)
    pushes = (rewards - baselines)[..., None] * weights * mask

    def ascent(pushes: Floats) -> Floats:
        gradient = pull_back(pushes / QUESTIONS, said.states, tokens, said.policy.probs)
        return duo.learner.pull_back(said, gradient)

    exact = ascent((chances * (rewards - baselines))[..., None] * mask)
    expected = ascent(sampled[..., None] * pushes)
    target, bias = (np.sqrt((x**2).sum(-1)) for x in (exact, expected - exact))
    chosen = [generator.choice(one.size, SAMPLES, p=one.ravel() / one.sum()) for one in sampled]
    variance = np.array(
        [_variance(task, duo, run, asked, listed, pushes, chosen[run]) for run in range(runs)]
    )
    error = np.sqrt(bias**2 + variance / BATCH)
    apart = (sampled * ((drawn.log_probs - said.log_probs) * mask).sum(-1)).sum(-1).mean(-1)
    return {"bias": bias / target, "log10 error": np.log10(error / target), "KL": apart}


def _variance(
    task: Task, duo: Pair, run: int, asked: Integers, listed: Integers, pushes: Floats, chosen: Integers
) -> float:
    """Return the variance of the gradient of one completion, each completion as a run of its own."""
    question, which = np.divmod(chosen, len(listed))
    actor = duo.learner._replace(params=np.repeat(duo.learner.params[run, None], len(chosen), axis=0))
    tokens = listed[which, None, None]
    said = actor.visit(task, asked[question, None], tokens, tokens)
    pushed = pushes[run, question, which][:, None, None]
    gradients = actor.pull_back(said, pull_back(pushed, said.states, tokens, said.policy.probs))
    return float(gradients.var(0, ddof=1).sum())


def learned(
    *, precision: str, correction: Slot | None, learning_rate: float, seeds: int, seed: int
) -> Measures:
    """Train with the completions of a sampler of low precision; what counts is the learner's own policy."""
    task, policy = sums(seed, COPIES, kind=MLP)
    generators = [np.random.default_rng([seed, run]) for run in range(seeds)]
    answers, asked = labelled_answers(task)
    params, optimizer = policy.start(task, seeds), Adam(learning_rate)
    state, correct = optimizer.init(params), []
    for _ in range(UPDATES):
        duo = pair(policy.at(params, 1.0), BITS[precision])
        batch = draw(task, duo.sampler, generators, prompts=PROMPTS, group_size=GROUP)
        said, drawn = (one.visit(task, batch.prompts, batch.states, batch.tokens) for one in duo)
        weights = weights_of(correction, said.log_probs, drawn.log_probs, batch.mask)
        advantages = batch.rewards - batch.rewards.mean(-1, keepdims=True)
        pushes = -advantages[..., None] * weights * batch.mask / (PROMPTS * GROUP)
        gradient = pull_back(pushes, said.states, batch.tokens, said.policy.probs)
        tokens = answers[batch.prompts][:, :, None]
        right = duo.learner.visit(task, batch.prompts, tokens, tokens).log_probs
        correct.append(np.exp((right * asked[batch.prompts][:, :, None]).sum(-1)).mean((-2, -1)))
        params, state = optimizer.step(params, duo.learner.pull_back(said, gradient), state)
    return summarized({"correct": np.stack(correct, axis=-1)})


NONE, TOKEN_TIS, TIS, MIS = "no correction", "TIS, token", "TIS, sequence", "MIS, sequence"
WEIGHTS = {
    NONE: None,
    TOKEN_TIS: slot(truncated, max_ratio=CAP),
    TIS: slot(truncated, level=sequence_sum_level, max_ratio=CAP),
    MIS: slot(masked, level=sequence_sum_level, max_ratio=CAP),
}
LOW = ("bfloat16", "float8")
FEW_RATES = RATES._replace(values=(0.003, 0.01, 0.03), by="mean correct")


def _less_error(says: str, precision: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, f"log10 error, {precision}", left, "less", right, 0.02, main)


def _more_right(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "mean correct", left, "more", right, 0.02, main)


EXPERIMENT = Experiment(
    name="sampler_mismatch_network",
    title="Does a sampler in lower precision harm training, and do corrections help?",
    policy="network",
    beside="sampler_mismatch",
    group="mismatch",
    claim="A sampler that computes the network's log-probabilities in lower precision than the learner biases"
    " the gradient; importance weights of completions repair it.",
    source="Yao et al. 2025, truncated importance sampling; a book chapter on GRPO (2026, not public), sec."
    " 7.5.7",
    # `RoundedMLP` rounds what every layer of an MLP gives, so the learner is an MLP as well.
    family=f"{TASKS} A network of two layers (16 numbers a digit, 64 inside) reads the last four digits."
    f" {IMITATES}",
    run="The sampler has the learner's weights, but the weights and the outputs of each layer are rounded to"
    " the 8 binary digits of bfloat16 or the 4 of float8 (e4m3). The algorithm is the plain policy gradient"
    " with the group's mean reward as baseline. The importance weight of a token is its own ratio of learner"
    ' to sampler ("token"), or the product of the ratios of its completion ("sequence"). TIS limits weights'
    f" to {CAP:g}, MIS drops those above {CAP:g}. After {BEFORE} updates of GRPO, the error of the gradient"
    f" is measured on {QUESTIONS} questions; its bias is exact, since all completions are listed. Separately,"
    f" the network is trained from the start with Adam, for {UPDATES} updates of {PROMPTS} x {GROUP}"
    " completions each, which the sampler draws.",
    measured=f"The root mean square error of the gradient of {BATCH} completions with respect to the weights,"
    " relative to the length of the exact gradient of the learner's expected reward, as a power of ten (0.02"
    " is 5 %). The bias is the error of an infinite batch, relative to the same length. KL is the divergence"
    " from the sampler to the learner in nats per completion. In training, the chance that the learner gives"
    " the labelled answer, at temperature 1: a mean of all updates, by which the learning rate is chosen.",
    arms={label: arm(errors, correction=correction) for label, correction in WEIGHTS.items()}
    | {
        f"{label}, {precision}": tuned(learned, FEW_RATES, precision=precision, correction=WEIGHTS[label])
        for label, precision in ((NONE, "float32"), *product((NONE, TIS), LOW))
    },
    predictions=(
        _less_error(
            "bfloat16: TIS of completions leaves a smaller error than none", "bfloat16", TIS, NONE, main=True
        ),
        _more_right(
            "bfloat16: TIS of completions gains more than none",
            f"{TIS}, bfloat16",
            f"{NONE}, bfloat16",
            main=True,
        ),
        _less_error("float8: TIS of completions leaves a smaller error than none", "float8", TIS, NONE),
        _more_right("float8: TIS of completions gains more than none", f"{TIS}, float8", f"{NONE}, float8"),
        _more_right("The same precision gains more than bfloat16", f"{NONE}, float32", f"{NONE}, bfloat16"),
        _more_right("The same precision gains more than float8", f"{NONE}, float32", f"{NONE}, float8"),
        _less_error("float8: TIS of completions errs less than of tokens", "float8", TIS, TOKEN_TIS),
        _less_error("float8: MIS errs less than TIS", "float8", MIS, TIS),
        Prediction(
            "bfloat16: without a correction there is a bias", "bias, bfloat16", NONE, "more", 0.0, 0.01
        ),
        Prediction("bfloat16: TIS of completions leaves none", "bias, bfloat16", TIS, "same", 0.0, 0.01),
    ),
    panels=(
        Points("bias, bfloat16", "bias of the gradient (bfloat16) /\n|exact gradient|"),
        Points("bias, float8", "bias of the gradient (float8) /\n|exact gradient|"),
        Grid("right completions (mean over updates)"),
    ),
)
