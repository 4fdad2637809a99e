"""Arguments of another kind, or in another order, are told in words."""

import pytest
from small_network import small_network

from grpo_ref import GRPO, TASKS, config_for, iter_train
from grpo_ref.fast.many_seeds import train_many
from grpo_ref.learning.policies.neural import NeuralPolicy

TASK = TASKS["bandit"]()
CONFIG = config_for(TASK, updates=3, seeds=2)

WRONG = {
    "swapped": (
        lambda: iter_train(GRPO, TASK, CONFIG),
        "task: expected a Task, got a Recipe; the order is (task, recipe, config, state)",
    ),
    "recipe and config swapped": (
        lambda: iter_train(TASK, CONFIG, GRPO),
        "recipe: expected a Recipe, got a TrainConfig; the order is (task, recipe, config, state)",
    ),
    "a task as text": (
        lambda: iter_train("bandit", GRPO, CONFIG),
        "task: expected a Task, got the text 'bandit'; write TASKS['bandit']()",
    ),
    "a task that was not called": (
        lambda: iter_train(TASKS["bandit"], GRPO, CONFIG),
        "task: expected a Task, got the function bandit; call it, as in bandit()",
    ),
    "a class": (
        lambda: iter_train(type(TASK), GRPO, CONFIG),
        "task: expected a Task, got the class Task; make one, as TASKS['bandit']() does",
    ),
    "a recipe that is none": (
        lambda: iter_train(TASK, 1.0, CONFIG),
        "recipe: expected a Recipe, got a float; take one, as in RECIPES['grpo'], or change one by"
        " replace(GRPO, ...)",
    ),
    "a dictionary of settings": (
        lambda: iter_train(TASK, GRPO, {"updates": 3}),
        "config: expected a TrainConfig, got a dict; write config_for(task, **settings)",
    ),
    "an update as the state": (
        lambda: iter_train(TASK, GRPO, CONFIG, next(iter_train(TASK, GRPO, CONFIG))),
        "state: expected a TrainState, got an Update; give its .state",
    ),
    "a policy by its name": (
        lambda: iter_train(TASK, GRPO, CONFIG, policy="transformer"),
        "policy: expected TABLE or a NeuralPolicy, such as pretrain makes, got the text 'transformer'",
    ),
    "a network without weights": (
        lambda: iter_train(TASK, GRPO, CONFIG, policy=small_network()),
        "policy: expected TABLE or a NeuralPolicy, such as pretrain makes, got a Transformer",
    ),
    "a class of policies": (
        lambda: iter_train(TASK, GRPO, CONFIG, policy=NeuralPolicy),
        "policy: expected TABLE or a NeuralPolicy, such as pretrain makes, got the class NeuralPolicy",
    ),
    "parameters as the teacher": (
        lambda: iter_train(TASK, "opd", CONFIG, teacher=1.0),
        "teacher: expected policies, such as TABLE.at(state.params, 1.0), got a float",
    ),
    "one name of a metric": (
        lambda: iter_train(TASK, GRPO, CONFIG, metrics="reward"),
        "metrics: expected several names, as in ('reward',), got the text 'reward'",
    ),
    "the fast loop by itself": (
        lambda: next(train_many("bandit", GRPO, CONFIG)),
        "task: expected a Task, got the text 'bandit'; write TASKS['bandit']()",
    ),
    "settings for a text": (
        lambda: config_for("bandit"),
        "task: expected a Task, as in config_for(TASKS['bandit']()), got 'bandit'",
    ),
    "an unknown setting": (
        lambda: config_for(TASK, update=3),
        "config_for: no setting 'update'; did you mean 'updates'?",
    ),
}


@pytest.mark.parametrize(("call", "message"), WRONG.values(), ids=WRONG)
def test_wrong_arguments_are_told_in_words(call, message):
    with pytest.raises(TypeError) as told:
        call()
    assert str(told.value) == message


def test_a_recipe_that_distills_needs_a_teacher():
    with pytest.raises(ValueError, match="teacher: this recipe distills from a teacher; pass one, as in"):
        iter_train(TASK, "opd", CONFIG)


def test_an_unknown_metric_is_told_with_the_nearest_one():
    with pytest.raises(ValueError, match=r"metrics: no metric 'rewards'; did you mean 'reward'\?"):
        iter_train(TASK, GRPO, CONFIG, metrics=("rewards",))
    with pytest.raises(ValueError, match="metrics: train_many cannot give entropy; use train"):
        next(train_many(TASK, GRPO, CONFIG, metrics=("reward", "entropy")))
