"""A distribution of tasks whose judge has learned from few labels, and can be hacked.

An answer consists of sentences of a few kinds, and its rewards depend on the fraction of each kind. The true
reward has a linear term and interactions between kinds; the judge is linear. Both rewards, and the KL to the
reference, are computed exactly for any policy. Rewards are in units of the standard deviation of the true
reward under the reference, with mean 0.
"""

from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.lab.framework.training import curves
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.learning.state import TrainState
from grpo_ref.learning.task import END, Task
from grpo_ref.recipes import Recipe

FAMILY = (
    "Answers of 8 to 16 sentences, each of one of 3 to 6 kinds, which a reference writes with different"
    " frequency (a standard deviation of its logits of 0.5 to 1.5). The true reward is a random quadratic"
    " function of the shares of the kinds, which bends up or down; drawn are its coefficients (normal) and"
    " how strongly it bends (0 to 4 times as much as it rises). The judge is a linear fit to 10 to 300"
    " answers of the reference, labelled with the true reward and noise of 0 to 2 standard deviations."
)
"""Description of how a task is sampled."""
UNITS = "standard deviations of the true reward among the reference's answers"
NAMES = ("kl", "proxy", "true")


class Score(NamedTuple):
    """A reward as a function of the fractions c of the kinds: linear · c + c' bend c.

    Attributes:
      linear: (K,) linear coefficients.
      bend: (K, K) symmetric matrix of interactions.
    """

    linear: Floats
    bend: Floats

    def of(self, shares: Floats) -> Floats:
        """Return the reward (...) of answers with fractions (..., K)."""
        value: Floats = shares @ self.linear + ((shares @ self.bend) * shares).sum(-1)
        return value

    def expected(self, probs: Floats) -> Floats:
        """Return the exact expected reward (...) of policies (..., T, K), whose sentences are independent."""
        alone = probs @ np.diag(self.bend) - ((probs @ self.bend) * probs).sum(-1)
        value: Floats = self.of(probs.mean(-2)) + alone.mean(-1) / probs.shape[-2]
        return value

    def scaled(self, mean: float, unit: float) -> "Score":
        """Return the reward minus a mean, in another unit. `linear` absorbs the mean: fractions sum to 1."""
        return Score((self.linear - mean) / unit, self.bend / unit)


class Judged(NamedTuple):
    """A sampled task.

    Attributes:
      task: task with the criteria "proxy" and "true"; "true" has weight 0.
      log_probs: (K,) log-probabilities of the kinds under the reference.
      proxy, true: the two rewards.
    """

    task: Task
    log_probs: Floats
    proxy: Score
    true: Score


def judged_answers(seed: int, *, flawless: bool = False, misled: bool = False) -> Judged:
    """Sample a task.

    Args:
      seed: seed of the task.
      flawless: if true, the judge gives the true reward.
      misled: if true, sample tasks until the true reward of the judge's favourite answer is below the mean of
        the reference.
    """
    generator = np.random.default_rng([seed, 6])
    while True:
        judged = _drawn(generator, flawless=flawless)
        favourite = np.eye(len(judged.log_probs))[judged.proxy.linear.argmax()]
        if not misled or judged.true.of(favourite) < 0.0:
            return judged


def _drawn(generator: np.random.Generator, *, flawless: bool) -> Judged:
    sentences, kinds = int(generator.integers(8, 17)), int(generator.integers(3, 7))
    log_probs = log_softmax(generator.uniform(0.5, 1.5) * generator.normal(size=kinds))
    linear, mixed = generator.normal(size=kinds), generator.normal(size=(kinds, kinds))
    true = Score(linear, generator.uniform(0.0, 4.0) * (mixed + mixed.T) / 2.0)
    chances, shares = answers(sentences, log_probs)
    mean = float(chances @ true.of(shares))
    true = true.scaled(mean, float(np.sqrt(chances @ (true.of(shares) - mean) ** 2)))
    proxy = true if flawless else _fitted(generator, sentences, log_probs, true)
    return Judged(_task(sentences, log_probs, proxy, true), log_probs, proxy, true)


def _fitted(generator: np.random.Generator, sentences: int, log_probs: Floats, true: Score) -> Score:
    """Fit the judge by least squares on some labelled answers; kinds that do not occur get coefficient 0."""
    labels = int(np.exp(generator.uniform(np.log(10), np.log(300))))
    shares = generator.multinomial(sentences, np.exp(log_probs), size=labels) / sentences
    noise = generator.uniform(0.0, 2.0) * generator.normal(size=labels)
    slope = np.linalg.lstsq(shares, true.of(shares) + noise, rcond=None)[0].astype(np.float64)
    proxy = Score(slope, np.zeros((len(slope), len(slope))))
    return proxy.scaled(float(np.exp(log_probs) @ slope), 1.0)


def answers(sentences: int, log_probs: Floats) -> tuple[Floats, Floats]:
    """Return all answers by their fractions (M, K), with their probabilities (M,) under the reference."""
    kinds = len(log_probs)
    bars = np.array(list(combinations(range(sentences + kinds - 1), kinds - 1)))
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, sentences + kinds - 1)))
    counts = np.diff(edges, axis=-1) - 1
    log_factorials = np.concatenate([[0.0], np.log(np.arange(1, sentences + 1)).cumsum()])
    log_chances = log_factorials[-1] + (counts * log_probs - log_factorials[counts]).sum(-1)
    return np.exp(log_chances), counts / sentences


def _task(sentences: int, log_probs: Floats, proxy: Score, true: Score) -> Task:
    states, kinds = np.arange(sentences), len(log_probs)
    following = np.where(states == sentences - 1, END, states + 1)
    return Task(
        name="proxies",
        vocabulary=tuple("abcdef"[:kinds]),
        transitions=np.repeat(following[:, None], kinds, axis=1),
        prompts=("",),
        starts=np.zeros(1, dtype=np.int64),
        prompt_probs=np.ones(1),
        max_length=sentences,
        ref_logits=np.repeat(log_probs[None], sentences, axis=0),
        verify=partial(_judge, proxy, true),
        criteria=("proxy", "true"),
        weights=np.array([1.0, 0.0]),
        settings={"updates": 200, "prompts": 4, "group_size": 8, "learning_rate": 0.1},
    )


def _judge(proxy: Score, true: Score, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    """Return (..., P, G, 2): the judge's reward and the true reward."""
    shares = (tokens[..., None] == np.arange(len(proxy.linear))).mean(-2)
    return np.stack([proxy.of(shares), true.of(shares)], axis=-1)


def path(judged: Judged, recipe: Recipe, config: TrainConfig) -> dict[str, Floats]:
    """Train on the proxy reward, and return exact curves of the policy, beginning with the reference.

    Returns:
      "kl" to the reference (nats per answer), "proxy" and "true" reward, each (S, 1 + updates).
    """

    def place(state: TrainState) -> Floats:
        return np.stack(standing(judged, log_softmax(state.params)), axis=-1)

    found = curves(judged.task, recipe, config, ("reward",), place=place)["place"]
    started = np.pad(found, ((0, 0), (0, 0), (1, 0)))  # the reference has KL 0 and, by definition, rewards 0
    return {name: started[:, row] for row, name in enumerate(NAMES)}


def standing(judged: Judged, log_probs: Floats) -> tuple[Floats, Floats, Floats]:
    """Return KL to the reference, proxy reward and true reward (...) of policies (..., T, K)."""
    probs = np.exp(log_probs)
    kl: Floats = (probs * (log_probs - judged.log_probs)).sum((-2, -1))
    return kl, judged.proxy.expected(probs), judged.true.expected(probs)
