"""Imitation: its loss and gradient, that it learns what it is shown, stops in time, and repeats itself."""

from dataclasses import replace

import numpy as np
import pytest
from differences import differences_of_runs
from small_network import EOS, letters, small_network, wavy

from grpo_ref.learning.policies.kinds import NETWORKS
from grpo_ref.learning.policies.neural import NeuralActor, NeuralPolicy
from grpo_ref.learning.policies.parameters import joined, views
from grpo_ref.learning.pretraining import (
    PretrainConfig,
    likelihood_gradient,
    pretrain,
    pretrain_config_for,
    sampled_reward,
)
from grpo_ref.learning.rollout import sample
from grpo_ref.tasks.bandit import bandit

TASK = letters()
CHOSEN = np.array([2, 0, 1, 1])
CONFIG = PretrainConfig(steps=40, batch=8, warm_up=5, learning_rate=0.02, dtype="float64")


@pytest.fixture(params=NETWORKS)
def network(request):
    return small_network(request.param)


def judged(network, params, examples=TASK.examples):
    return likelihood_gradient(TASK, NeuralActor(network, params, 1.0), examples, CHOSEN)


def surprise(network, params):
    """(S,) nats per token of the examples, each read by itself up to its end."""
    weights, nats, count = views(params, network.shapes()), 0.0, 0
    for example in CHOSEN:
        said = TASK.examples.tokens[example][TASK.examples.mask[example]]
        prompt = TASK.prompt_tokens[TASK.examples.prompts[example]]
        text = np.concatenate([prompt, said])
        logits, _ = network.forward(weights, np.tile(text[:-1], (len(params), 1, 1)))
        logits = logits[:, 0, len(prompt) - 1 :]
        log_probs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        nats = nats - sum(log_probs[:, place, token] for place, token in enumerate(said))
        count += len(said)
    return nats / count


def test_the_loss_is_the_surprise_per_token(network):
    params = wavy(network)[None]
    assert judged(network, params)[0] == pytest.approx(surprise(network, params)[0], rel=1e-12)


def test_the_gradient_is_the_central_difference_of_the_surprise(network):
    params = wavy(network)
    _, gradient = judged(network, params[None])
    numerical = differences_of_runs(lambda points: surprise(network, points), params, step=1e-4)
    np.testing.assert_allclose(gradient[0], numerical, rtol=1e-8, atol=1e-9)


def test_what_follows_an_example_does_not_matter(network):
    examples = TASK.examples
    other = replace(examples, tokens=np.where(examples.mask, examples.tokens, EOS - 1))
    ours, theirs = (judged(network, wavy(network)[None], one) for one in (examples, other))
    assert ours[0] == theirs[0]
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-12, atol=1e-15)


def test_what_is_shown_is_learned(network):
    """Each prompt has one answer: who sees it all comes down to no surprise, and says the examples alone."""
    config, network = replace(CONFIG, steps=150), replace(network, context=5)
    steps = list(pretrain(TASK, network, config))
    losses = [one.loss for one in steps]
    assert losses[0] == pytest.approx(np.log(4.0), abs=0.4)
    assert np.mean(losses[-10:]) < 0.05
    assert [one.step for one in steps] == list(range(1, 151))
    drawn = sample(TASK, steps[-1].policy.start(TASK, 1), prompts=20, policy=steps[-1].policy)
    for prompt, tokens, mask in zip(
        drawn.prompts[0], drawn.tokens[0, :, 0], drawn.mask[0, :, 0], strict=True
    ):
        assert TASK.render(prompt, tokens, mask) in ("aaab", "bcc", "caab")


def test_it_stops_at_the_reward_that_was_asked_for(network):
    """Three of four prompts ask for a b, and the reward is looked at on every fourth step."""
    config = replace(CONFIG, steps=400, until=0.6, check_every=4, checked=64)
    steps = list(pretrain(TASK, network, config))
    assert steps[-1].step < 200
    assert steps[-1].step % 4 == 0
    assert steps[-1].reward >= 0.6
    assert all(one.reward < 0.6 for one in steps[:-1])
    assert {one.reward for one in steps[:3]} == {0.0}


def test_equal_seeds_repeat_to_the_bit_and_others_do_not(network):
    first, again = (list(pretrain(TASK, network, CONFIG)) for _ in range(2))
    assert [one.loss for one in first] == [one.loss for one in again]
    np.testing.assert_array_equal(first[-1].policy.weights, again[-1].policy.weights)
    *_, other = pretrain(TASK, network, replace(CONFIG, seed=1))
    assert (other.policy.weights != first[-1].policy.weights).any()


def test_a_policy_that_was_yielded_stays_as_it_was(network):
    steps = pretrain(TASK, network, CONFIG)
    first = next(steps).policy.weights
    before = first.copy()
    next(steps)
    np.testing.assert_array_equal(first, before)


def test_the_first_step_is_as_long_as_the_warm_up_allows(network):
    """Adam's first step is learning_rate · sign(gradient), here a fifth of it."""
    start = joined(network.init(np.random.default_rng(0)), network.shapes())
    moved = next(pretrain(TASK, network, CONFIG)).policy.weights - start
    assert np.abs(moved).max() == pytest.approx(0.02 / 5, rel=1e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_weights_have_the_precision_that_was_asked_for(network, dtype):
    last = next(pretrain(TASK, network, replace(CONFIG, dtype=dtype)))
    assert last.policy.weights.dtype == dtype
    assert last.policy.start(TASK, 2).dtype == dtype


def test_the_reward_is_of_prompts_that_training_draws(network):
    """A prompt that is held out is never asked: on the first alone the reward is 1, on the others 0."""
    task = replace(
        TASK,
        verify=lambda prompts, tokens, mask: np.broadcast_to(
            (prompts == 0)[..., None, None] * 1.0, (*tokens.shape[:-1], 1)
        ),
    )
    actor = NeuralPolicy(network, wavy(network)).at(wavy(network)[None], 1.0)
    for probs, expected in (([1.0, 0.0, 0.0], 1.0), ([0.0, 0.5, 0.5], 0.0)):
        asked = replace(task, prompt_probs=np.array(probs))
        assert sampled_reward(asked, actor, CONFIG, np.random.default_rng(0)) == expected


def test_weights_that_are_lost_are_told_with_the_step(network):
    """A step of 1e300 after the first is still a number, what follows from it is none."""
    steps = pretrain(TASK, network, replace(CONFIG, learning_rate=1e300, warm_up=1))
    assert np.isfinite(next(steps).policy.weights).all()
    message = r"imitation, step 2: the weights are too large for the network: .*\(learning_rate=1e\+300\)"
    with pytest.raises(FloatingPointError, match=message):
        next(steps)


# ---- refusals ------------------------------------------------------------------------------------------

WRONG = {
    "steps": ({"steps": 0}, "steps: expected a whole number >= 1, got 0"),
    "batch": ({"batch": -1}, "batch: expected a whole number >= 1, got -1"),
    "warm_up": ({"warm_up": 0}, "warm_up: expected a whole number >= 1, got 0"),
    "check_every": ({"check_every": 0}, "check_every: expected a whole number >= 1, got 0"),
    "checked": ({"checked": 0}, "checked: expected a whole number >= 1, got 0"),
    "half a step": ({"steps": 1.5}, "steps: expected a whole number >= 1, got 1.5"),
    "steps in words": ({"steps": "many"}, "steps: expected a whole number >= 1, got 'many'"),
    "seed": ({"seed": -1}, "seed: expected a whole number >= 0, got -1"),
    "learning_rate": ({"learning_rate": 0.0}, "learning_rate: expected a number > 0, got 0.0"),
    "learning rate in words": (
        {"learning_rate": "small"},
        "learning_rate: expected a number > 0, got 'small'",
    ),
    "infinite learning rate": (
        {"learning_rate": float("inf")},
        "learning_rate: expected a finite number, got inf",
    ),
    "yes for a number": ({"steps": True}, "steps: expected a whole number >= 1, got True"),
    "until": ({"until": -0.1}, "until: expected a number > 0, got -0.1"),
    "not a number": ({"until": float("nan")}, "until: expected a number > 0, got nan"),
    "dtype": ({"dtype": "float16"}, "dtype: expected float32 or float64, got 'float16'"),
    "unknown": ({"stpes": 3}, "pretraining: no setting 'stpes'; did you mean 'steps'"),
}


@pytest.mark.parametrize(("settings", "message"), WRONG.values(), ids=WRONG)
def test_settings_that_cannot_be_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        pretrain_config_for(TASK, **settings)


def with_examples(**changes):
    return replace(TASK, examples=replace(TASK.examples, **changes))


NO_MASK, TOKENS = np.zeros((3, 4), dtype=bool), TASK.examples.tokens
EXAMPLES_REFUSED = {
    "none": (
        with_examples(prompts=np.zeros(0, int), tokens=TOKENS[:0], mask=NO_MASK[:0]),
        "task: letters has no examples to imitate",
    ),
    "unknown tokens": (
        with_examples(tokens=TOKENS + 9),
        "examples: tokens: expected numbers from 0 to 3, got 9 to 12",
    ),
    "negative tokens": (with_examples(tokens=TOKENS - 1), "expected numbers from 0 to 3, got -1 to 2"),
    "unknown prompts": (
        with_examples(prompts=np.array([0, 1, 3])),
        "examples: prompts: expected numbers from 0 to 2",
    ),
    "nothing to imitate": (with_examples(mask=NO_MASK), "at least one token in each row of the mask"),
    "too long": (
        with_examples(tokens=np.tile(TOKENS, 2), mask=np.tile(TASK.examples.mask, 2)),
        "examples: expected at most max_length=4 tokens, got 8",
    ),
    "of several shapes": (with_examples(mask=NO_MASK[:, :2]), r"got shapes \(3,\), \(3, 4\), \(3, 2\)"),
}


@pytest.mark.parametrize(("task", "message"), EXAMPLES_REFUSED.values(), ids=EXAMPLES_REFUSED)
def test_examples_that_cannot_be_imitated_are_refused(network, task, message):
    with pytest.raises(ValueError, match=message):
        next(pretrain(task, network, CONFIG))


ARGUMENTS = {
    "task": (("sums", small_network(), CONFIG), "task: expected a Task, got 'sums'"),
    "network": ((TASK, "mlp", CONFIG), "network: expected a Transformer or an MLP, .* got 'mlp'"),
    "config": ((TASK, small_network(), {"steps": 3}), "config: expected a PretrainConfig, got {'steps': 3}"),
}


@pytest.mark.parametrize(("arguments", "message"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments_of_another_kind_are_refused(arguments, message):
    with pytest.raises(TypeError, match=message):
        next(pretrain(*arguments))


def test_the_settings_of_the_task_give_way_to_those_that_are_given():
    task = replace(TASK, pretraining={"steps": 7, "until": 0.5})
    assert pretrain_config_for(task, steps=3) == PretrainConfig(steps=3, until=0.5)


def test_a_task_without_examples_is_refused(network):
    with pytest.raises(ValueError, match="task: bandit has no examples to imitate"):
        next(pretrain(bandit(), network, CONFIG))
    with pytest.raises(ValueError, match="task: bandit has no examples to imitate"):
        pretrain_config_for(bandit())
