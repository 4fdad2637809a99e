"""Claim: after a few steps on a batch clipping cuts off the gradient of rare tokens, and CISPO keeps it."""

from dataclasses import replace
from functools import partial

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.experiments.framework.experiment import Arm, Curves, Experiment, Measures, Prediction, arm
from grpo_ref.experiments.framework.tasks.orders import random_orders
from grpo_ref.experiments.framework.training import trained
from grpo_ref.kernels.surrogates import clipped
from grpo_ref.learning.optim import Adam
from grpo_ref.learning.policies.table import gather, policy_of, pull_back
from grpo_ref.learning.rollout import draw
from grpo_ref.learning.tasks.task import END, Task
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import CISPO, Recipe, slot

CLIP = replace(CISPO, surrogate=slot(clipped, clip_low=0.2, clip_high=0.2))
CLIP_HIGHER = replace(CISPO, surrogate=slot(clipped, clip_low=0.2, clip_high=0.28))
COMPARED = {"clip 0.2": CLIP, "clip-higher 0.28": CLIP_HIGHER, "CISPO": CISPO}
STEPS, LEARNING_RATE = 16, 0.05
LUCK = 0.3
"""Share of the prompts for which a guess is right, in the arms with luck."""
RARE = 0.05
"""Old probability below which a token is called rare."""
KEY, TOKENS = 0, 8
"""The token that stands for "wait", and the number of tokens."""


def key_token(*, contexts: int = 4, variants: int = 10, probability: float = 0.02, luck: float = 0.0) -> Task:
    """Think first: a rare token opens a second step, in which the right answer can be known.

    Without that token an answer is a guess, right for a share of the variants of a context, which look the
    same to the policy. After it there is one right answer, with a probability of one half at the start.

    Args:
      contexts: what the policy can tell apart, besides the step that it is in.
      variants: number of prompts per context.
      probability: of the rare token at the start.
      luck: the share of variants for which a guess is right.
    """
    generator = np.random.default_rng(0)
    answers = generator.integers(1, TOKENS, size=contexts)
    lucky = random_orders(generator, (contexts, variants, TOKENS), axis=1) < luck * variants
    guess = np.full((contexts, TOKENS), np.log((1.0 - probability) / (TOKENS - 1)))
    guess[:, KEY] = np.log(probability)
    known = np.full((contexts, TOKENS), np.log(0.5 / (TOKENS - 1)))
    known[np.arange(contexts), answers] = np.log(0.5)
    transitions = np.full((2 * contexts, TOKENS), END)
    transitions[:contexts, KEY] = contexts + np.arange(contexts)
    prompts = contexts * variants
    return Task(
        name="key_token",
        vocabulary=("wait,", *"abcdefg"),
        transitions=transitions,
        prompts=tuple(f"{context}.{variant}:" for context in range(contexts) for variant in range(variants)),
        starts=np.repeat(np.arange(contexts), variants),
        prompt_probs=np.full(prompts, 1.0 / prompts),
        max_length=2,
        ref_logits=np.concatenate([guess, known]),
        verify=partial(_judge, np.repeat(answers, variants), lucky.reshape(prompts, TOKENS)),
        criteria=("right",),
        weights=np.ones(1),
    )


def _judge(answers: Integers, lucky: Bools, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    first, second = tokens[..., 0], tokens[..., 1]
    known = second == answers[prompts][..., None]
    right = np.where(first == KEY, known, lucky[prompts[..., None], first])
    return right.astype(np.float64)[..., None]


def steps_on_a_batch(*, recipe: Recipe, seeds: int, seed: int) -> Measures:
    """Take many steps on one batch, and count at each which tokens still have a gradient."""
    task, optimizer = key_token(luck=LUCK), Adam(learning_rate=LEARNING_RATE)
    logits = np.repeat(task.ref_logits[None], seeds, axis=0)
    old, state = policy_of(logits), optimizer.init(logits)
    generators = [np.random.default_rng([seed, run]) for run in range(seeds)]
    batch = draw(task, old, generators, prompts=64, group_size=8)
    advantages = recipe.advantage(batch)
    old_log_probs = gather(old.log_probs, batch.states, batch.tokens)
    counted = batch.mask & (advantages != 0.0)[..., None]
    rare = counted & (old_log_probs < np.log(RARE))
    shares = []
    for _ in range(STEPS):
        policy = policy_of(logits)
        log_probs = gather(policy.log_probs, batch.states, batch.tokens)
        loss = policy_loss(
            log_probs, advantages, batch.mask, recipe=recipe, old_log_probs=old_log_probs, metrics=()
        )
        kept = loss.gradient != 0.0
        shares.append([_share(kept, rare), _share(kept, counted & ~rare)])
        gradient = pull_back(loss.gradient, batch.states, batch.tokens, policy.probs)
        logits, state = optimizer.step(logits, gradient, state)
    kept_rare, kept_others = np.moveaxis(np.array(shares), 0, -1)
    return {
        "rare kept": kept_rare,
        "rare kept at the end": kept_rare[:, -1],
        "rare - others kept": kept_rare[:, -1] - kept_others[:, -1],
    }


def _share(kept: Bools, among: Bools) -> Floats:
    """(S,) of the tokens of each batch."""
    share: Floats = (kept & among).sum((-3, -2, -1)) / np.maximum(among.sum((-3, -2, -1)), 1)
    return share


def _trained(recipe: Recipe, *, luck: float) -> Arm:
    return arm(
        trained,
        task=key_token,
        task_options={"luck": luck},
        recipe=recipe,
        record=("reward",),
        updates=50,
        prompts=16,
        epochs=STEPS,
        learning_rate=LEARNING_RATE,
    )


EXPERIMENT = Experiment(
    name="rare_gradient",
    group="clipping",
    claim="Rare tokens that start a new thought ('wait') are clipped after the first step on a batch and"
    " then contribute no gradient; CISPO keeps the gradient of every token and learns faster.",
    source="MiniMax 2025, MiniMax-M1, sec. 3.1 (arXiv:2506.13585)",
    run="The policy guesses, or it says 'wait', which is 2 % likely at first, and then gives an answer that"
    f" can be learned. A guess is always wrong, or, with luck, right for {LUCK:.0%} of the prompts. There"
    f" are {STEPS} steps on each batch, with groups of 8: on one batch of 64 prompts, with luck, to count"
    " gradients; and on 50 batches of 16 prompts to learn.",
    measured=f"The share of the rare tokens (old probability below {RARE:.0%}, advantage not 0) that have a"
    " gradient at the last step, and the reward (share of right answers), as a mean over all of training.",
    arms={
        **{f"{label}, one batch": arm(steps_on_a_batch, recipe=recipe) for label, recipe in COMPARED.items()},
        **{label: _trained(recipe, luck=0.0) for label, recipe in COMPARED.items()},
        **{f"{label}, luck": _trained(recipe, luck=LUCK) for label, recipe in COMPARED.items()},
    },
    predictions=(
        Prediction(
            "After many steps more rare tokens have a gradient with CISPO than with clipping",
            "rare kept at the end",
            "CISPO, one batch",
            "more",
            "clip 0.2, one batch",
            margin=0.1,
        ),
        Prediction(
            "Clipping takes the gradient from rare tokens rather than from the others",
            "rare - others kept",
            "clip 0.2, one batch",
            "less",
            0.0,
            margin=0.1,
        ),
        Prediction(
            "Where only a rare token leads to reward, CISPO gains more than clipping",
            "mean reward",
            "CISPO",
            "more",
            "clip 0.2",
            margin=0.02,
        ),
        Prediction(
            "Where only a rare token leads to reward, CISPO gains more than clip-higher",
            "mean reward",
            "CISPO",
            "more",
            "clip-higher 0.28",
            margin=0.02,
        ),
        Prediction(
            "Where guesses are sometimes lucky, CISPO gains more than clipping",
            "mean reward",
            "CISPO, luck",
            "more",
            "clip 0.2, luck",
            margin=0.02,
        ),
        Prediction(
            "Where guesses are sometimes lucky, CISPO gains more than clip-higher",
            "mean reward",
            "CISPO, luck",
            "more",
            "clip-higher 0.28, luck",
            margin=0.02,
        ),
    ),
    panels=(
        Curves("rare kept", "share of rare tokens with a gradient", xlabel="step on the batch"),
        Curves("reward", "reward (share of right answers)"),
    ),
    remark="Clipping withholds the gradient from tokens that were merely lucky as well. With luck in the"
    " reward, CISPO settles on a lucky guess before it has seen the rare token often enough.",
    chosen="At first there were only the arms with luck in the reward; the arms without luck were added"
    " after CISPO had lost there.",
)
