"""On-policy distillation in the training loop: the student approaches its teacher, unless a sign is wrong."""

from dataclasses import replace

import pytest
from small_network import beginning, letters, small_network

from grpo_ref import GRPO, TASKS, config_for, iter_train, slot
from grpo_ref.advantages import with_teacher
from grpo_ref.learning.policies.table import TABLE, gather_states
from grpo_ref.learning.rollout import sample
from grpo_ref.penalties import k1, k2, to_teacher
from grpo_ref.recipes import OPD, OPD_RL

LETTERS = letters()
TASK = TASKS["arithmetic"](largest=3)
CONFIG = config_for(TASK, seeds=4, updates=60)


def last_state(recipe, **settings):
    *_, last = iter_train(TASK, recipe, replace(CONFIG, **settings), metrics=("reward",), teacher=TEACHER)
    return last.state


def reward_of(params):
    return sample(TASK, params, prompts=500, seed=7).rewards.mean()


def kl_to_teacher(params):
    """Mean reverse KL of the next token in nats, on completions of the student; exact in each state."""
    student = TABLE.at(params, 1.0)
    batch = sample(TASK, params, prompts=500, seed=7)
    kl = gather_states(student.divergences(TEACHER.log_probs), batch.states)
    return kl[batch.mask].mean()


*_, TRAINED = iter_train(TASK, GRPO, replace(CONFIG, updates=150), metrics=("reward",))
TEACHER = TABLE.at(TRAINED.state.params, 1.0)
START = TABLE.start(TASK, CONFIG.seeds)
BEFORE = kl_to_teacher(START)


def test_the_teacher_is_better_than_the_student():
    assert reward_of(START) < 0.3 < 0.8 < reward_of(TRAINED.state.params)
    assert BEFORE > 1.0


LESSONS = {
    "the advantage": OPD,
    "the advantage and rewards": OPD_RL,
    "the current policy as the student": replace(
        OPD, distill=slot(with_teacher, reward_coef=0.0, student="current")
    ),
    "with the tokens to come": replace(OPD, distill=slot(with_teacher, reward_coef=0.0, discount=1.0)),
    "k2 as a loss": replace(OPD, distill=None, penalty=slot(to_teacher, estimator=k2), kl_coef=1.0),
}
NO_REWARD = {"advantage": slot(lambda rewards: 0.0 * rewards)}


@pytest.mark.parametrize("recipe", LESSONS.values(), ids=LESSONS)
def test_the_student_learns_from_the_teacher(recipe):
    state = last_state(replace(recipe, **NO_REWARD))
    assert kl_to_teacher(state.params) < 0.1 * BEFORE
    assert reward_of(state.params) > 0.8


SLIPS = {
    "student minus teacher": replace(OPD, distill=slot(with_teacher, coef=-1.0, reward_coef=0.0)),
    "k1 as a loss": replace(OPD, distill=None, penalty=slot(to_teacher, estimator=k1), kl_coef=1.0),
    "the teacher's share is 0": replace(OPD, distill=slot(with_teacher, coef=0.0, reward_coef=0.0)),
}


@pytest.mark.parametrize("recipe", SLIPS.values(), ids=SLIPS)
def test_a_slip_teaches_nothing(recipe):
    state = last_state(replace(recipe, **NO_REWARD))
    assert kl_to_teacher(state.params) > 0.9 * BEFORE
    assert reward_of(state.params) < 0.3


def test_several_steps_on_a_batch_use_the_teachers_numbers_of_that_batch():
    state = last_state(OPD, epochs=2, minibatches=2, updates=20)
    assert kl_to_teacher(state.params) < 0.3 * BEFORE


def test_a_transformer_teaches_an_mlp():
    """The teacher's own completions become more likely under the student, which has another architecture."""
    teacher_policy, _, taught = beginning(small_network("transformer"), seeds=2)
    policy, config, state = beginning(
        small_network("mlp"), seeds=2, updates=60, optimizer="adam", learning_rate=0.03
    )
    teacher = teacher_policy.at(2.0 * taught.params, 1.0)
    *_, last = iter_train(LETTERS, OPD, config, state, policy=policy, teacher=teacher)
    batch = sample(LETTERS, 2.0 * taught.params, prompts=100, policy=teacher_policy)

    def surprise(actor):
        log_probs = actor.visit(LETTERS, batch.prompts, batch.states, batch.tokens).log_probs
        return -log_probs[batch.mask].mean()

    best, before, after = (
        surprise(actor)
        for actor in (teacher, policy.at(state.params, 1.0), policy.at(last.state.params, 1.0))
    )
    assert best < after < best + 0.5 * (before - best)
