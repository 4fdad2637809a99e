"""The kinds of argument: what they draw is what the statement allows, and all of it comes."""

import numpy as np
import pytest

from grpo_ref.course.grading.domain.arguments import Choice, Context, Made, Mask, Real, Scalar, Whole
from grpo_ref.course.grading.domain.rows import SCALED_ROWS
from grpo_ref.course.grading.domain.source import Dealer

SIZES = {"N": 3, "T": 4, "V": 5}


def contexts(count=200, **values):
    """So many contexts with the dealer shared, as in a sequence of draws."""
    dealer = Dealer(3)
    for _ in range(count):
        yield Context(dealer, SIZES, 0, dict(values))


def drawn(kind, count=200, **values):
    return [kind.plain("x", context) for context in contexts(count, **values)]


def dressed(kind, value, count=60, **values):
    return [kind.dressed("x", value, context) for context in contexts(count, **values)]


def test_real_numbers_stay_within_and_have_the_shape():
    values = drawn(Real("N T", (0.5, 2000.0)))
    assert {value.shape for value in values} == {(3, 4)}
    assert min(value.min() for value in values) >= 0.5
    assert max(value.max() for value in values) > 1000.0
    assert any((value == np.floor(value)).all() for value in values)


def test_numbers_come_of_every_size_and_at_both_ends():
    values = np.abs(drawn(Real("T", (-5.0, 5.0), whole=False)))
    assert (values == 5.0).any()
    for exponent in range(-14, 0):
        assert ((values > 10.0**exponent) & (values < 10.0 ** (exponent + 1))).any()
    assert ((values > 0) & (values < 1e-3)).all(-1).any()


@pytest.mark.parametrize("least", [1e-15, 0.25])
def test_no_number_but_0_is_smaller_than_the_least(least):
    values = np.abs(drawn(Real("T", (-1.0, 1.0), least=least, rows=(SCALED_ROWS,))))
    assert values[values > 0].min() >= least
    assert (values == 0).any()


def test_numbers_may_be_those_of_another_argument_in_places():
    other = np.array([1.25, 2.25, 3.25, 4.25])
    shared = [(value == other).sum() for value in drawn(Real("T", (0, 10), whole=False), other=other)]
    assert max(shared) > 1
    assert shared.count(0) > len(shared) / 2


def test_the_alternative_decides_the_shape():
    context = Context(Dealer(0), SIZES, 2)
    assert Real("|T|N T", (0, 1)).plain("x", context).shape == (3, 4)
    assert Mask("N T").plain("x", context).shape == (3, 4)


@pytest.mark.parametrize(("special", "value"), [(1, 1.0), ("1 + clip", 1.25), ("log(1 + clip)", 0.22314355)])
def test_special_values_come_exactly_and_nearly(special, value):
    kind = Real("T", (0, 10), at=(special,), whole=False)
    values = drawn(kind, clip=0.25)
    distance = np.abs(np.array(values) - value)
    assert (distance < 1e-8).any()
    assert ((distance > 0) & (distance < 1e-3)).any()
    assert kind.needs == ({"clip"} if isinstance(special, str) else set())


def test_an_offset_is_taken_from_the_neighbor():
    base = np.array([1.0, 2.0, 3.0, 4.0])
    values = drawn(Real("T", (0, 10), usual=((-0.5, 0.5),), near="base", whole=False), base=base)
    assert max(np.abs(value - base).max() for value in values) <= 0.5


def test_padding_holds_everything_that_it_may_hold():
    mask = np.array([1.0, 0.0, 1.0, 0.0])
    forms = dressed(Real("T", (0, 10), padding="mask"), np.array([1.5, 2.5, 3.5, 4.5]), mask=mask)
    arrays = [np.asarray(form, dtype=float) for form in forms]
    assert all(array[[0, 2]].tolist() == [1.5, 3.5] for array in arrays)
    padding = np.array([array[[1, 3]] for array in arrays]).ravel()
    assert np.isnan(padding).any()
    assert np.isinf(padding).any()
    assert (np.abs(padding) == 1e300).any()
    assert (padding == 0).any()


def test_finite_padding_is_finite():
    kind = Real("T", (0, 10), padding="mask", holds=("zeros", "huge numbers"))
    assert np.isfinite([dressed(kind, np.ones(4), mask=np.zeros(4))]).all()


def test_whole_numbers_come_as_integers_in_arrays_and_lists():
    forms = dressed(Real("T", (0, 10)), np.array([1.0, 2.0, 3.0, 4.0]))
    assert any(isinstance(form, np.ndarray) and form.dtype == np.int64 for form in forms)
    assert any(isinstance(form, list) and isinstance(form[0], int) for form in forms)


def test_lists_may_hold_integers_beside_other_numbers():
    lists = [
        each for each in dressed(Real("T", (0, 9)), np.array([1.0, 2.5, 3.0, 4.5])) if isinstance(each, list)
    ]
    kinds = {tuple(type(number) for number in each) for each in lists}
    assert kinds == {(float, float, float, float), (int, float, int, float)}
    assert all(each == [1, 2.5, 3, 4.5] for each in lists)


def test_numbers_that_are_not_whole_stay_floating_point_numbers():
    forms = dressed(Real("T", (0, 10)), np.array([1.5, 2.0]))
    assert all(np.asarray(form).dtype == float for form in forms)


def test_without_axes_a_number_of_python_or_numpy_comes():
    forms = dressed(Real("", (0, 10)), np.array(1.5))
    assert {type(form) for form in forms} == {float, np.float64}


def test_memory_comes_in_both_orders():
    forms = dressed(Real("N T", (0, 10)), np.full((3, 4), 0.5))
    assert {form.flags.c_contiguous for form in forms if isinstance(form, np.ndarray)} == {True, False}


def test_an_empty_array_never_comes_as_a_list_that_has_lost_its_shape():
    assert all(np.shape(form) == (0, 3) for form in dressed(Real("N T", (0, 10)), np.zeros((0, 3))))


def is_prefix(mask):
    return bool((np.diff(mask, axis=-1) <= 0).all())


def test_masks_have_gaps_only_where_they_may():
    assert any(not is_prefix(mask) for mask in drawn(Mask("N T")))
    assert all(is_prefix(mask) for mask in drawn(Mask("N T", gaps=False)))


def test_rows_are_empty_only_where_they_may_be():
    assert any(not mask.any() for mask in drawn(Mask("N T")))
    assert all(mask.any(-1).all() for mask in drawn(Mask("N T", empty_rows=False, nothing=False)))


def test_masks_come_in_all_types():
    forms = dressed(Mask("N T"), np.ones((3, 4)))
    assert {np.asarray(form).dtype for form in forms} == {np.dtype(t) for t in (float, np.int64, bool)}


def test_scalars_stay_within_and_take_their_special_values():
    values = drawn(Scalar(0.2, (0, 20), at=(0, 1)))
    assert {0.0, 1.0} <= set(values)
    assert min(values) >= 0
    assert 10 < max(values) <= 20
    assert dressed(Scalar(0.2, (0, 20)), 1.0)[0] == 1
    assert isinstance(dressed(Scalar(0.2, (0, 20)), 1.0)[0], int)


def test_whole_numbers_reach_both_ends_even_where_an_axis_sets_them():
    values = drawn(Whole((0, "V - 1"), axes="N T"))
    assert {value.dtype for value in values} == {np.dtype(np.int64)}
    assert set(np.array(values).ravel()) == {0, 1, 2, 3, 4}
    assert {type(value) for value in drawn(Whole((1, 3)))} == {int}


def test_whole_numbers_are_drawn_from_their_usual_ranges():
    values = drawn(Whole((0, 9), usual=((1, 2), (0, "V - 1"))))
    assert set(values) == {0, 1, 2, 3, 4}
    assert values.count(1) > values.count(3)


def test_choices_and_made_values_are_as_declared():
    assert set(drawn(Choice(("sum", "mean")))) == {"sum", "mean"}
    assert drawn(Made(lambda context: {"size": context.sizes["N"]}, "a dict"))[0] == {"size": 3}


SENTENCES = {
    Real("T", (0, 1), padding="mask", holds=("zeros", "NaN")): "0 to 1",
    Real("T", (-1e4, 0.25)): "−1e4 to 0.25",
    Mask("T"): "0 or 1",
    Scalar(0.2, (1e-8, 1000), refused=(-1, 2)): "1e-8 to 1000",
    Whole((0, "V - 1")): "integer, 0 to V - 1",
    Whole((0, "V - 1"), axes="N T"): "integers, 0 to V - 1",
    Choice(("a", "b"), default="a"): "'a' or 'b'",
}


@pytest.mark.parametrize(("kind", "sentence"), SENTENCES.items(), ids=SENTENCES.values())
def test_a_kind_says_what_it_allows(kind, sentence):
    assert kind.describe() == sentence
