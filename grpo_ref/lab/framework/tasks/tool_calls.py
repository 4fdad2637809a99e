"""A distribution of tasks for agents: some calls of tools, each with an observation, and then an answer.

The claims about credit for turns and about masks of observations share these tasks and their training loop.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats, Integers
from grpo_ref.filters import trained_tokens
from grpo_ref.lab.framework.experiment import Measures
from grpo_ref.lab.framework.training import summarized
from grpo_ref.learning.optim import Adam
from grpo_ref.learning.policies.table import Policy, gather, policy_of, pull_back
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import Recipe
from grpo_ref.types import Completions

VOCABULARY, FEATURES = 6, 8
"""Number of tokens, which are tools, words of the tools and answers; number of features that places share."""
ERROR = VOCABULARY - 1
"""The word that a tool writes if the call was not useful. The other words are facts that a question needs."""
UPDATES, PROMPTS, GROUP = 60, 8, 8
"""Number of updates, of prompts in a batch, and of episodes of a prompt."""
FAMILY = (
    "3 to 6 questions. An episode calls 1 to 3 tools and then answers. Each call has 1 useful tool out of"
    f" {VOCABULARY}, and even a useful tool fails in up to 20 % of its calls. The last tool writes a fact if"
    " all calls succeeded, else an error, and then up to 7 random words (as the other tools do). The fact"
    f" says which of {VOCABULARY} answers is right; after an error the policy can only guess. At first 15 to"
    " 60 % of the calls and of the answers to a fact are right (log-uniform, with normal noise of 0.5 in"
    " log-odds)."
)
POLICY = (
    f"The policy has separate logits for each place, plus logits from {FEATURES} random features of the place"
    " whose weights all places share, those of the tools' words included."
)


class Tools(NamedTuple):
    """A sampled task with Q questions, H calls, L words per observation and N places.

    A place is what the policy sees when a token is written: question and call and whether all calls so far
    succeeded; or question and fact; or question and place in an observation.

    Attributes:
      useful: (Q, H) the tool that each call needs.
      answers: (Q, V - 1) right answer for each fact.
      fails: probability that a useful call fails.
      observation_length: number of words that a tool writes.
      logits: (N, V) logits of the policy at the start.
      features: (N, D) features of the places.
    """

    useful: Integers
    answers: Integers
    fails: float
    observation_length: int
    logits: Floats
    features: Floats

    def call_place(self, question: Integers, call: int | Integers, ok: Integers) -> Integers:
        """Return the place of a call; `ok` is 1 if all calls before it succeeded."""
        place: Integers = (question * self.useful.shape[1] + call) * 2 + ok
        return place

    def answer_place(self, question: Integers, word: Integers) -> Integers:
        """Return the place of the answer after the last tool wrote a fact or the error."""
        return 2 * self.useful.size + question * VOCABULARY + word

    def word_place(self, question: Integers, call: int, word: int) -> Integers:
        """Return the place of a word that a tool writes."""
        first = 2 * self.useful.size + len(self.useful) * VOCABULARY
        place: Integers = first + (question * self.useful.shape[1] + call) * self.observation_length + word
        return place

    def policy(self, params: Floats) -> Policy:
        """Return the policies with parameters (S, N + D, V): logits of places, weights of features."""
        own, shared = params[:, : len(self.logits)], params[:, len(self.logits) :]
        return policy_of(own + self.features @ shared)

    def start(self, runs: int) -> Floats:
        """Return (S, N + D, V) the parameters at the start: the weights of the features are 0."""
        zeros = np.zeros((self.features.shape[1], VOCABULARY))
        return np.repeat(np.concatenate([self.logits, zeros])[None], runs, axis=0)

    def gradient(self, of_logits: Floats) -> Floats:
        """Return (S, N + D, V) the gradient of the parameters, from that of the logits (S, N, V)."""
        return np.concatenate([of_logits, np.einsum("nd,snv->sdv", self.features, of_logits)], axis=1)

    def success(self, policy: Policy) -> Floats:
        """Return (S, Q) the probability that all calls succeed."""
        question = np.arange(len(self.useful))
        rates = [
            policy.probs[:, self.call_place(question, call, np.array(1)), tools] * (1.0 - self.fails)
            for call, tools in enumerate(self.useful.T)
        ]
        every: Floats = np.prod(rates, axis=0)
        return every

    def expected_reward(self, policy: Policy) -> Floats:
        """Return (S,) the probability of a right answer, over questions and facts that are equally likely."""
        question, success = np.arange(len(self.useful))[:, None], self.success(policy)
        knowing = policy.probs[:, self.answer_place(question, np.arange(ERROR)), self.answers].mean(-1)
        guessing = policy.probs[:, self.answer_place(question, np.array(ERROR)), self.answers].mean(-1)
        reward: Floats = (success * knowing + (1.0 - success) * guessing).mean(-1)
        return reward


def drawn_tools(seed: int, *, calls: int = 0, observation_length: int = 0, shared: bool = True) -> Tools:
    """Sample a task.

    Args:
      seed: seed of the task.
      calls: number of calls before the answer; sampled if 0.
      observation_length: number of words that a tool writes; sampled if 0.
      shared: if false, all features are 0, so that places share nothing.
    """
    generator = np.random.default_rng([seed, 21])
    questions, drawn_calls = int(generator.integers(3, 7)), int(generator.integers(1, 4))
    drawn_length, fails = int(generator.integers(1, 9)), generator.uniform(0.0, 0.2)
    known = np.exp(generator.uniform(np.log(0.15), np.log(0.6), size=2))
    calls, observation_length = calls or drawn_calls, observation_length or drawn_length
    useful = generator.integers(0, VOCABULARY, (questions, calls))
    answers = np.stack([generator.permutation(VOCABULARY)[:ERROR] for _ in range(questions)])
    places = 2 * useful.size + questions * VOCABULARY + useful.size * observation_length
    task = Tools(
        useful,
        answers,
        fails,
        observation_length,
        0.5 * generator.normal(size=(places, VOCABULARY)),
        np.empty(0),
    )
    question = np.arange(questions)[:, None]
    call = np.arange(calls)
    for place, token, chance in (
        (task.call_place(question, call, np.array(1)), useful, known[0]),
        (task.answer_place(question, np.arange(ERROR)), answers, known[1]),
    ):
        odds = np.log(chance / (1.0 - chance)) + 0.5 * generator.normal(size=place.shape)
        others = np.exp(task.logits[place])
        np.put_along_axis(others, token[..., None], 0.0, axis=-1)
        task.logits[place, token] = odds + np.log(others.sum(-1))
    features = generator.normal(size=(places, FEATURES)) / np.sqrt(FEATURES)
    return task._replace(features=features if shared else 0.0 * features)


def episodes(
    task: Tools, policy: Policy, generators: list[np.random.Generator], prompts: int, group_size: int
) -> Completions:
    """Sample episodes of the policies, one generator for each run.

    The rewards are 1 for a right answer. The turn rewards are 1 for each call that succeeded, and 0 for the
    answer. The tokens of the tools have the turn id -1.
    """
    calls, length = task.useful.shape[1], task.useful.shape[1] * (1 + task.observation_length) + 1
    shape = (prompts, group_size)
    question = np.stack([one.integers(0, len(task.useful), prompts) for one in generators])
    asked = np.repeat(question[..., None], group_size, axis=-1)
    fact = np.stack([one.integers(0, ERROR, shape) for one in generators])
    chances = np.stack([one.random((2, calls + 1, *shape)) for one in generators], axis=2)
    filler = np.stack([one.integers(0, VOCABULARY, (*shape, length)) for one in generators])
    run = np.arange(len(generators))[:, None, None]
    cumulative = policy.probs.cumsum(-1)[..., :-1]

    def choose(place: Integers, turn: int) -> Integers:
        token: Integers = (chances[0, turn, ..., None] > cumulative[run, place]).sum(-1)
        return token

    written: list[tuple[int, Integers, Integers]] = []
    anchors, successes = [], []
    ok = np.ones(asked.shape, dtype=int)
    for call in range(calls):
        place = task.call_place(asked, call, ok)
        token = choose(place, call)
        ok = ok * (token == task.useful[asked, call]) * (chances[1, call] >= task.fails)
        written.append((call, place, token))
        anchors.append(place)
        successes.append(ok)
        for word in range(task.observation_length):
            says_fact = word == 0 and call == calls - 1
            said = np.where(ok == 1, fact, ERROR) if says_fact else filler[..., len(written)]
            written.append((-1, task.word_place(asked, call, word), said))
    place = task.answer_place(asked, np.where(ok == 1, fact, ERROR))
    token = choose(place, calls)
    written.append((calls, place, token))
    turn_ids, places, tokens = zip(*written, strict=True)
    rewards = (token == task.answers[asked, fact]).astype(float)
    return Completions(
        prompts=question,
        states=np.stack(places, axis=-1),
        tokens=np.stack(tokens, axis=-1),
        mask=np.ones((*asked.shape, length), dtype=bool),
        ended=np.ones(asked.shape, dtype=bool),
        components=rewards[..., None],
        rewards=rewards,
        weights=np.ones(1),
        max_length=length,
        turn_ids=np.broadcast_to(np.array(turn_ids), (*asked.shape, length)),
        turn_rewards=np.stack([*successes, np.zeros(asked.shape, dtype=int)], axis=-1).astype(float),
        anchor_states=np.stack([*anchors, place], axis=-1),
    )


def trained_agent(
    *,
    recipe: Recipe,
    learning_rate: float,
    seeds: int,
    seed: int,
    calls_rewarded: bool = False,
    merged: bool = False,
    masked: bool = True,
    **fixed: Any,
) -> Measures:
    """Train on a sampled task with Adam, and compute the expected reward and the success of calls exactly.

    Args:
      recipe: the recipe.
      learning_rate: step size of Adam.
      seeds, seed: number of independent runs; base seed of their random numbers and of the task.
      calls_rewarded: if true, the turn rewards are those of the calls; if false, only the last turn has a
        reward, the episode's.
      merged: if true, the turn rewards of the calls are added to the reward of the episode.
      masked: if false, the tokens of the tools take part in the loss.
      fixed: settings of `drawn_tools` that are not sampled.
    """
    task = drawn_tools(seed, **fixed)
    generators = [np.random.default_rng([seed, run, 22]) for run in range(seeds)]
    params, optimizer = task.start(seeds), Adam(learning_rate)
    state, rewards, successes = optimizer.init(params), [], []
    for _ in range(UPDATES):
        policy = task.policy(params)
        batch = episodes(task, policy, generators, PROMPTS, GROUP)
        turns, turn_ids = batch.turn_rewards, batch.turn_ids
        assert turns is not None
        assert turn_ids is not None
        if merged:
            batch = replace(batch, rewards=batch.rewards + turns.sum(-1))
        if not calls_rewarded:
            last = np.arange(turns.shape[-1]) == turns.shape[-1] - 1
            batch = replace(batch, turn_rewards=last * batch.rewards[..., None])
        loss = policy_loss(
            gather(policy.log_probs, batch.states, batch.tokens),
            recipe.advantage(batch),
            trained_tokens(turn_ids, batch.mask) if masked else batch.mask,
            recipe=recipe,
            metrics=(),
        )
        of_logits = pull_back(loss.gradient, batch.states, batch.tokens, policy.probs)
        params, state = optimizer.step(params, task.gradient(of_logits), state)
        policy = task.policy(params)
        rewards.append(task.expected_reward(policy))
        successes.append(task.success(policy).mean(-1))
    return summarized({"reward": np.stack(rewards, axis=-1), "success": np.stack(successes, axis=-1)})
