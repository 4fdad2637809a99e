"""The source of draws: everything comes in turn, and equal seeds give equal draws."""

import numpy as np

from grpo_ref.course.grading.domain.source import Dealer

OPTIONS = {"zero": 0, "one": 1, "many": 9}


def test_every_option_comes_once_before_one_comes_again():
    dealer = Dealer(7)
    dealt = [dealer.pick("number", OPTIONS) for _ in range(9)]
    assert all(sorted(dealt[first : first + 3]) == [0, 1, 9] for first in (0, 3, 6))


def test_two_choices_of_the_same_length_have_decks_of_their_own():
    dealer = Dealer(7)
    pairs = [(dealer.pick("left", OPTIONS), dealer.pick("right", OPTIONS)) for _ in range(3)]
    assert sorted(left for left, _ in pairs) == sorted(right for _, right in pairs) == [0, 1, 9]


def test_what_was_picked_is_noted_by_its_label():
    dealer = Dealer(0)
    value = dealer.pick("number", OPTIONS)
    assert OPTIONS[dealer.picked["number"]] == value


def test_numbers_stay_in_their_range_and_both_ends_of_whole_ones_come():
    dealer = Dealer(1)
    assert {dealer.integer(2, 4) for _ in range(100)} == {2, 3, 4}
    numbers = dealer.reals(-1.0, 3.0, (200,))
    assert numbers.min() >= -1.0
    assert numbers.max() <= 3.0
    assert dealer.flags((2, 3)).dtype == bool


def test_equal_seeds_give_equal_draws():
    one, other = Dealer(5), Dealer(5)
    np.testing.assert_array_equal(one.reals(0.0, 1.0, (4,)), other.reals(0.0, 1.0, (4,)))
    assert one.pick("number", OPTIONS) == other.pick("number", OPTIONS)
