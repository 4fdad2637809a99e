"""Wrong answers that nobody knows are told by what all calls have in common in which they are wrong."""

from dataclasses import replace

import numpy as np
import pytest

from grpo_ref.course.grading.domain.arguments import Mask, Real, Scalar, Whole
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.problem import Mutant, Problem
from grpo_ref.course.grading.sampled_check import FromDomain
from grpo_ref.course.grading.symptoms.features import Given, of_call


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


def changes_both_arrays(rewards, mask, scale=1.0, first=0):
    value = centered(rewards, mask, scale, first)
    for each in (rewards, mask):
        if isinstance(each, np.ndarray):
            each += 1 - each
            each[..., :1] = 0
    return value


def changes_integers(rewards, mask, scale=1.0, first=0):
    value = centered(rewards, mask, scale, first)
    if isinstance(rewards, np.ndarray) and rewards.dtype.kind == "i":
        rewards += 1
    return value


def changes_scaled_rewards_and_loses_a_group_of_one(rewards, mask, scale=1.0, first=0):
    value = a_group_of_one_keeps_its_reward(rewards, mask, scale, first)
    if isinstance(rewards, np.ndarray):
        rewards[...] = 0
    return value


def raises_at_random(rewards, mask, scale=1.0, first=0):
    numbers = np.nan_to_num(np.asarray(rewards, dtype=float), posinf=1.0, neginf=1.0)
    if int(1e6 * abs(np.sin(1e3 * numbers.sum() + numbers.size))) % 3 == 0:
        raise KeyError("rewards")
    return centered(rewards, mask, scale, first)


def nan_at_random(rewards, mask, scale=1.0, first=0):
    try:
        return raises_at_random(rewards, mask, scale, first)
    except KeyError:
        return np.full(np.shape(rewards), np.nan)


def the_last_of_a_row_is_lost(rewards, mask, scale=1.0, first=0):
    value = centered(rewards, mask, scale, first)
    value[..., -1:] = 0
    return value


def passed_by_another_name(rewards, mask, /, scale=1.0, start=0):
    return centered(rewards, mask, scale, start)


# answer -> parts of the sentence that it must get, and parts that it must not get
TOLD = {
    a_group_of_one_keeps_its_reward: (
        ("where G is 1", "each wrong number is the number of rewards at the same place."),
        ("In these calls",),
    ),
    one_scale_too_many: (("The returned value is scale times the right value",), ()),
    no_lists: (("AttributeError is raised exactly where rewards is a list: in all",), ()),
    large_scales_are_cut: (
        ("where scale is 1.8 or more", "do not show what happens where scale is between 1.3 and 1.8."),
        ("exactly", "is above"),
    ),
    negative_numbers_are_lost: (("On the wrong calls, each wrong number is 0.",), ("In these calls",)),
    padding_is_multiplied: (("where the padding of rewards holds NaN or infinities",), ()),
    changes_the_rewards: (
        ("Your function changes its argument `rewards` only if rewards is an array: in ",),
        ("An input is changed", "`mask`"),
    ),
    changes_both_arrays: (("`rewards` only if rewards is an array", "`mask` only if mask is an array"), ()),
    changes_integers: (("`rewards` only if rewards is an array of integers: in all",), ("floats",)),
    changes_scaled_rewards_and_loses_a_group_of_one: (
        ("changes its argument `rewards` only if rewards is an array", "is wrong", "where G is 1"),
        (),
    ),
    raises_at_random: (("KeyError is raised in", "The shortest of these calls is `centered("), ("where",)),
    nan_at_random: (("NaN or an infinity is returned in", "`centered("), ("the others are right",)),
    the_last_of_a_row_is_lost: (("each wrong number is 0.",), ("In these calls",)),
    passed_by_another_name: (("TypeError is raised exactly where first is passed by name",), ()),
    in_single_precision: (
        ("On the wrong calls, the value agrees with the right one to 7", "single precision (float32)"),
        ("and no further", "or more", "mask is 1"),
    ),
    in_the_opposite_order: (("in another order",), ()),
    flat: (("has a wrong shape",), ()),
}


@pytest.mark.parametrize(("answer", "parts"), TOLD.items(), ids=[each.__name__ for each in TOLD])
def test_what_a_wrong_answer_is_told(answer, parts):
    told = grade(PROBLEM, answer, seed=4).symptom
    for part in parts[0]:
        assert part in told
    for part in parts[1]:
        assert part not in told


def test_rows_of_padding_are_rows_too():
    given = Given(DOMAIN, (np.ones((2, 3)), np.zeros((2, 3))), {})
    assert of_call(given)["rewards has more than one row"]


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
        assert ("where scale is" in grade(problem, large_scales_are_cut, seed=4).symptom) == is_told


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
        "Invalid input is accepted where scale is 0 or less: in all"
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
