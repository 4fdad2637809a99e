"""Claims on distillation: the teachers are better than the students, and ratios to the teacher are exact."""

from dataclasses import replace

import numpy as np

from grpo_ref.advantages import with_teacher
from grpo_ref.lab.claims import distillation, distillation_network
from grpo_ref.lab.framework.network import sums
from grpo_ref.lab.framework.tasks.steps_to_go import drawn_steps
from grpo_ref.recipes import OPD, slot

SEED = 3
UNTAUGHT = replace(OPD, distill=slot(with_teacher, coef=0.0, reward_coef=0.0))


def test_a_student_that_is_taught_nothing_keeps_its_share_of_the_teachers_result():
    settings = {"recipe": UNTAUGHT, "updates": 2, "learning_rate": 1.0, "seeds": 2, "seed": SEED}
    measures = distillation.student(**settings, steps=2, known=0.02)
    weak, better = (
        made.chances(made.task.ref_logits).mean()
        for made in (drawn_steps(SEED, steps=2, known=known) for known in (0.02, distillation.BETTER))
    )
    assert weak < 0.3 * better
    np.testing.assert_allclose(measures["reached"], weak / better)
    np.testing.assert_allclose(measures["final solved"], weak)


def test_a_student_at_a_small_rate_approaches_its_teacher():
    arm = distillation.EXPERIMENT.arms["teacher, rate 0.1"]
    measures = arm.run(**arm.settings, seeds=2, seed=SEED)
    np.testing.assert_allclose(measures["reached"], 1.0, atol=0.15)


def test_the_teacher_of_a_network_is_better_at_the_same_questions():
    task, policy = sums(SEED, known=0.02)
    teacher = distillation_network.teacher_of(SEED, 1)
    start = policy.at(policy.weights[None], 1.0)
    weak, better = (distillation_network.correct(task, actor, 1, SEED)[0] for actor in (start, teacher))
    assert weak < 0.3 < 0.4 < better


def test_a_network_that_is_taught_nothing_keeps_its_share_of_the_teachers_result():
    settings = {"recipe": UNTAUGHT, "updates": 1, "learning_rate": 0.01, "seeds": 1, "seed": SEED}
    measures = distillation_network.student(**settings)
    task, policy = sums(SEED)
    start = distillation_network.correct(task, policy.at(policy.weights[None], 1.0), 1, SEED)
    np.testing.assert_allclose(measures["final correct"], start)
    np.testing.assert_allclose(measures["reached"], start / distillation_network.reached_by_teacher(SEED, 1))
