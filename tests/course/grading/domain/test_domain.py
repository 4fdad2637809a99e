"""The domain: arguments that fit one another, in every way in which they may be given."""

import numpy as np
import pytest

from grpo_ref.course.grading.domain.arguments import Mask, Real, Scalar
from grpo_ref.course.grading.domain.domain import Domain, Refusal, Rule

DOMAIN = Domain(
    {
        "values": Real("N T", (-10, 10), padding="mask", meaning="one per token"),
        "mask": Mask("N T"),
        "clip": Scalar(0.25, (0, 1), at=(0,), refused=(-1,)),
        "bound": Real("N T", (0, 5), at=("1 + clip",)),
    },
    sizes={"N": (1, 3), "T": (0, 4)},
    large={"T": 50},
    refusals=(Refusal("values and mask of different shapes", lambda values: {"mask": [[1] * 60]}),),
)
DRAWS = DOMAIN.draws(0, 400)


def test_arguments_of_one_shape_have_it_in_every_draw():
    for draw in DRAWS:
        if not draw.refused:
            assert np.shape(draw.values["values"]) == np.shape(draw.values["mask"])


def test_sizes_go_from_the_smallest_to_the_largest_and_now_and_then_beyond():
    lengths = {np.shape(draw.values["bound"])[1] for draw in DRAWS}
    assert lengths == {0, 1, 2, 3, 4, 50}
    assert max(np.shape(draw.values["bound"])[1] for draw in DRAWS[:11]) <= 1


def test_an_argument_with_a_default_is_left_out_given_by_name_and_given_in_place():
    domain = Domain({"x": Real("", (0, 1)), "clip": Scalar(0.25, (0, 1))})
    draws = domain.draws(0, 60)
    assert any("clip" not in draw.values for draw in draws)
    assert any("clip" in draw.keywords for draw in draws)
    assert any(len(draw.arguments) == 2 for draw in draws)


def test_what_depends_on_an_argument_that_was_left_out_depends_on_its_default():
    domain = Domain({"clip": Scalar(0.25, (0.5, 1)), "x": Real("T", (0, 9), at=("1 + clip",))}, {"T": (2, 2)})
    found = [
        1.25 in np.asarray(draw.values["x"], dtype=float)
        for draw in domain.draws(0, 200)
        if "clip" not in draw.values
    ]
    assert any(found)


def test_one_draw_in_twenty_must_be_refused():
    refused = [draw for draw in DRAWS if draw.refused]
    assert len(refused) == 20
    assert {draw.refused for draw in refused} == {"ValueError"}
    assert any(draw.values.get("clip") == -1 for draw in refused)
    assert any(np.shape(draw.values["mask"]) == (1, 60) for draw in refused)


def test_rules_hold():
    domain = Domain(
        {"low": Scalar(0, (0, 1)), "high": Scalar(1, (0, 1))},
        rules=(Rule("low is at most high.", lambda values: values["low"] <= values["high"]),),
    )
    assert all(domain.plain(draw)["low"] <= domain.plain(draw)["high"] for draw in domain.draws(0, 100))
    assert domain.notes == ["low is at most high."]


def test_rules_that_nothing_satisfies_are_an_error():
    domain = Domain({"x": Scalar(0, (0, 1))}, rules=(Rule("never", lambda values: False),))
    with pytest.raises(RuntimeError, match="200 sampled inputs in a row"):
        domain.draws(0, 1)


def test_equal_seeds_give_equal_draws_and_others_do_not():
    assert repr(DOMAIN.draws(0, 400)) == repr(DRAWS)
    assert repr(DOMAIN.draws(1, 400)) != repr(DRAWS)


def test_the_statement_is_told_what_is_allowed():
    assert DOMAIN.inputs.splitlines() == [
        "| argument | meaning                   | shape  | values    |",
        "| -------- | ------------------------- | ------ | --------- |",
        "| `values` | one per token             | (N, T) | −10 to 10 |",
        "| `mask`   | 1 on tokens, 0 on padding | (N, T) | 0 or 1    |",
        "| `clip`   |                           | number | 0 to 1    |",
        "| `bound`  |                           | (N, T) | 0 to 5    |",
        "",
        "* `values` may hold anything where `mask` is 0, also NaN or infinity.",
        "* `mask`: zeros may be anywhere, and a row may be all zeros.",
        "* T may be 0.",
        "* N is at least 1.",
        "* Raise a ValueError for each of these inputs: `clip` is -1; values and mask of different shapes.",
    ]


def test_a_table_that_is_too_wide_becomes_a_list():
    domain = Domain({"x": Scalar(0, (0, 1), meaning="a long story " * 9)})
    assert domain.inputs.startswith("* `x`: a long story")
    assert domain.inputs.endswith("; number; 0 to 1.")


WRONG = {
    "another number of alternatives": {"x": Real("|T", (0, 1)), "y": Real("|T|N T", (0, 1))},
    "no arguments": {},
    "a circle": {"x": Real("T", (0, 1), near="y"), "y": Real("T", (0, 1), near="x")},
    "an unknown name": {"x": Real("T", (0, 1), padding="mask")},
}


@pytest.mark.parametrize("arguments", WRONG.values(), ids=WRONG)
def test_a_domain_that_cannot_be_drawn_is_refused_at_once(arguments):
    with pytest.raises(ValueError, match="arguments"):
        Domain(arguments)
