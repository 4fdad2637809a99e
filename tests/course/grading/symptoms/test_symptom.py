"""Wrong answers that nobody knows are told by what all calls have in common in which they are wrong."""

from dataclasses import replace

import numpy as np
import pytest

from grpo_ref.course.grading.domain.arguments import Mask, Real, Scalar, Whole
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.problem import Mutant, Problem
from grpo_ref.course.grading.sampled_check import FromDomain


def centered(rewards, mask, scale=1.0, first=0):
    """Rewards of each row less the row's mean over the mask; tokens before `first` give 0."""
    rewards, mask = np.asarray(rewards, dtype=float), np.asarray(mask) > 0
    mean = np.where(mask, rewards, 0.0).sum(-1, keepdims=True) / np.maximum(mask.sum(-1, keepdims=True), 1)
    kept = mask & (np.arange(mask.shape[-1]) >= first)
    return np.where(kept, scale * (rewards - mean), 0.0)


DOMAIN = Domain(
    {
        "rewards": Real("P G", (-10, 10), padding="mask"),
        "mask": Mask("P G"),
        "scale": Scalar(1.0, (0.5, 4)),
        "first": Whole((0, 2), default=0),
    },
    sizes={"P": (1, 3), "G": (1, 4)},
)
PROBLEM = Problem(
    id="toys/centered",
    title="Centered",
    function="centered",
    reference=centered,
    checks=(FromDomain(),),
    mutants=(Mutant("tripled", lambda *args, **keys: 3.0 * centered(*args, **keys), "It is tripled."),),
    hints=(),
    source="",
    domain=DOMAIN,
)


def a_group_of_one_keeps_its_reward(rewards, mask, scale=1.0, first=0):
    alone = np.shape(rewards)[-1] == 1
    return np.where(np.asarray(mask) > 0, rewards, 0.0) if alone else centered(rewards, mask, scale, first)


def one_scale_too_many(rewards, mask, scale=1.0, first=0):
    return scale * centered(rewards, mask, scale, first)


def no_lists(rewards, mask, scale=1.0, first=0):
    return centered(rewards.astype(float), mask, scale, first)


def large_scales_are_cut(rewards, mask, scale=1.0, first=0):
    return centered(rewards, mask, min(scale, 1.5), first)


def negative_numbers_are_lost(rewards, mask, scale=1.0, first=0):
    return np.maximum(centered(rewards, mask, scale, first), 0.0)


def padding_is_multiplied(rewards, mask, scale=1.0, first=0):
    with np.errstate(all="ignore"):
        return centered(rewards, mask, scale, first) + 0.0 * np.asarray(rewards, dtype=float)


def changes_the_rewards(rewards, mask, scale=1.0, first=0):
    value = centered(rewards, mask, scale, first)
    if isinstance(rewards, np.ndarray):
        rewards[...] = 0
    return value


def in_single_precision(rewards, mask, scale=1.0, first=0):
    return centered(rewards, mask, scale, first).astype(np.float32)


def in_the_opposite_order(rewards, mask, scale=1.0, first=0):
    return centered(rewards, mask, scale, first)[:, ::-1]


def flat(rewards, mask, scale=1.0, first=0):
    return centered(rewards, mask, scale, first).ravel()


TOLD = {
    a_group_of_one_keeps_its_reward: ("where G is 1", "In these calls, rewards is returned unchanged."),
    one_scale_too_many: ("The returned value is scale times the right value",),
    no_lists: ("AttributeError is raised exactly where rewards is a list",),
    large_scales_are_cut: ("where scale is above 1",),
    negative_numbers_are_lost: ("In these calls, 0 is returned.",),
    padding_is_multiplied: ("NaN or an infinity is returned", "the padding of rewards holds"),
    changes_the_rewards: ("An input is changed",),
    in_single_precision: ("at least the first 7 digits are right",),
    in_the_opposite_order: ("in another order",),
    flat: ("has a wrong shape",),
}


@pytest.mark.parametrize(("answer", "parts"), TOLD.items(), ids=[each.__name__ for each in TOLD])
def test_what_a_wrong_answer_is_told(answer, parts):
    report = grade(PROBLEM, answer, seed=4)
    for part in parts:
        assert part in report.symptom


def test_nothing_is_said_of_a_right_answer_or_of_one_with_a_diagnosis():
    assert grade(PROBLEM, centered).symptom == ""


def one_more(rewards, mask, scale=1.0, first=0):
    return 2.0 * centered(rewards, mask, scale, first) + 1.0


def test_of_an_answer_that_is_wrong_nearly_everywhere_no_condition_is_told():
    assert grade(PROBLEM, one_more).symptom == ""


def test_a_condition_is_not_told_under_which_alone_other_mistakes_show():
    def doubled(*arguments, **keywords):
        return 2.0 * centered(*arguments, **keywords)

    def cut_earlier(rewards, mask, scale=1.0, first=0):
        return centered(rewards, mask, min(scale, 1.4), first)

    for known, is_told in ((doubled, True), (cut_earlier, False)):
        problem = replace(PROBLEM, mutants=(Mutant(known.__name__, known, "It is wrong."),))
        assert ("where scale is above" in grade(problem, large_scales_are_cut, seed=4).symptom) == is_told


def test_a_factor_is_only_told_if_calls_that_are_right_agree_with_it():
    def another_default(rewards, mask, scale=2.0, first=0):
        return centered(rewards, mask, scale, first)

    told = grade(PROBLEM, another_default, seed=4).symptom
    assert "scale is omitted" in told
    assert "times the right value" not in told


def test_numbers_that_were_lost_are_in_no_other_order():
    def small_ones_lost(rewards, mask, scale=1.0, first=0):
        value = centered(rewards, mask, scale, first)
        return np.where(abs(value) < 1e-3, 0.0, value)

    assert "in another order" not in grade(PROBLEM, small_ones_lost).symptom


def test_what_must_be_refused_and_is_not():
    strict = replace(
        PROBLEM,
        reference=lambda rewards, mask, scale=1.0, first=0: _strict(rewards, mask, scale, first),
        domain=replace(
            DOMAIN, arguments={**DOMAIN.arguments, "scale": Scalar(1.0, (0.5, 4), refused=(-1, 0))}
        ),
    )
    assert grade(strict, centered).symptom.startswith(
        "Invalid input is accepted exactly where scale is below"
    )


def _strict(rewards, mask, scale, first):
    if scale <= 0:
        raise ValueError("scale")
    return centered(rewards, mask, scale, first)


MEMORY = """
import numpy as np

kept = []


def centered(rewards, mask, scale=1.0, first=0):
    kept.append(scale)
    rewards, mask = np.asarray(rewards, dtype=float), np.asarray(mask) > 0
    mean = np.where(mask, rewards, 0.0).sum(-1, keepdims=True) / np.maximum(mask.sum(-1, keepdims=True), 1)
    value = np.where(mask & (np.arange(mask.shape[-1]) >= first), rewards - mean, 0.0)
    return value * {scale}
"""


def test_a_memory_shows_in_a_fresh_process(tmp_path):
    file = tmp_path / "centered.py"
    file.write_text(MEMORY.replace("{scale}", "kept[0]"))
    assert "your code remembers something from earlier calls" in grade(PROBLEM, file).symptom
    file.write_text(MEMORY.replace("{scale}", "scale * 2"))
    assert grade(PROBLEM, file).symptom == "The returned value is 2 times the right value, or nearly so."


def test_an_answer_that_hangs_is_asked_no_more(tmp_path):
    file = tmp_path / "centered.py"
    file.write_text("def centered(rewards, mask, scale=1.0, first=0):\n    while True:\n        pass\n")
    assert grade(replace(PROBLEM, seconds=0.2), file).symptom == ""
