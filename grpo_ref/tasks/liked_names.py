"""Names scored by a reward model that was learned from few preferences, so that training exploits its errors.

Here the true taste is known and can be measured: consonants and vowels should alternate, and a name should
have six letters. A simulated judge with this taste has chosen the better name in a number of pairs, which
the letter model of `names` wrote. The reward model counts pairs of neighbouring letters. So it learns which
pairs are liked, but it cannot learn that a name may be too long.

After Gao et al. 2022 (arXiv:2210.10760), whose true reward is a larger reward model.
"""

from dataclasses import replace
from functools import cache, partial

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers, array_namespace
from grpo_ref.learning.preferences import fit, preferred
from grpo_ref.learning.rollout import sample
from grpo_ref.learning.task import Task
from grpo_ref.tasks.names import EOS, VOWEL, names

IS_VOWEL = np.append(VOWEL, False)
TURNS, LENGTH = 8.0, 6
"""Value of a name that alternates throughout, and the best number of letters."""


def liked_names(*, pairs: int = 300, prior: float = 1.0, seed: int = 0) -> Task:
    """Complete a first letter to a name with a high score of a reward model learned from preferences.

    Args:
      pairs: number of choices from which the reward model is learned.
      prior: precision of the normal prior on its weights.
      seed: seed of the pairs and the choices.

    Returns:
      A task with criteria "learned" (the reward model's score) and "taste" (the true value of the name;
      weight 0, measured only), both as log-odds in nats. A name that fills the budget counts as finished.

    Raises:
      ValueError: if pairs is less than 1, or the prior is not positive.
    """
    if pairs < 1 or not prior > 0.0:
        raise ValueError(f"expected pairs >= 1 and prior > 0, got {pairs} and {prior}")
    return replace(
        names(),
        name="liked_names",
        verify=partial(_judge, IS_VOWEL, _learned(pairs, prior, seed)),
        criteria=("learned", "taste"),
        policy="transformer",
        network_settings={"learning_rate": 1e-4, "max_grad_norm": 1.0},
        settings={"updates": 200, "learning_rate": 0.1},
    )


@cache
def _learned(pairs: int, prior: float, seed: int) -> Floats:
    """Return (729,) the weights of a reward model learned from a number of choices."""
    # Pairs of names from the letter model, a choice in each pair, and a fit to the choices.
    task = names()
    drawn = sample(task, task.ref_logits[None], prompts=pairs, group_size=2, seed=seed)
    text = spelled(drawn.prompts, drawn.tokens, drawn.mask)[0]
    worth, features = taste(IS_VOWEL, text), pair_counts(text)
    first = preferred(worth[:, 0], worth[:, 1], np.random.default_rng(seed).random(pairs))
    differences = (features[:, 0] - features[:, 1]) * np.where(first, 1.0, -1.0)[:, None]
    return fit(differences, prior=prior / pairs)


def spelled(prompts: Integers, tokens: Integers, mask: Bools) -> Integers:
    """Return (..., P, G, T + 2) the letters of names, with EOS before the first letter and after the last."""
    xp = array_namespace(prompts, tokens, mask)
    first = xp.broadcast_to(prompts[..., None, None], (*tokens.shape[:-1], 1))
    text: Integers = xp.concat([xp.full_like(first, EOS), first, xp.where(mask, tokens, EOS)], axis=-1)
    return text


def pair_counts(text: Integers) -> Floats:
    """Return (..., 729) the number of times that each pair of neighbours occurs: the reward model's features.

    Start and end of the name are neighbours too. Pairs after the end are not counted.
    """
    xp = array_namespace(text)
    hot = xp.astype(text[..., None] == xp.arange(EOS + 1), xp.float64)
    counts: Floats = xp.moveaxis(hot[..., :-1, :], -1, -2) @ hot[..., 1:, :]
    counts[..., EOS, EOS] = 0.0
    return counts.reshape(*text.shape[:-1], -1)


def taste(is_vowel: Bools, text: Integers) -> Floats:
    """Return (...) the true value of names: 8 times the share of alternations, minus |letters - 6|."""
    xp = array_namespace(is_vowel, text)
    letter, vowel = text != EOS, is_vowel[text]
    neighbours = letter[..., 1:] & letter[..., :-1]
    turns = neighbours & (vowel[..., 1:] != vowel[..., :-1])
    share = turns.sum(-1) / xp.maximum(neighbours.sum(-1), 1)
    worth: Floats = TURNS * share - xp.abs(letter.sum(-1) - LENGTH)
    return worth


def _judge(is_vowel: Bools, weights: Floats, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    """Return (..., P, G, 2): the learned score and the true value of each name."""
    text = spelled(prompts, tokens, mask)
    scores = [pair_counts(text) @ weights, taste(is_vowel, text)]
    judged: Floats = array_namespace(text).stack(scores, axis=-1)
    return judged
