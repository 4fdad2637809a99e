"""Runs of a part of the tests keep what they promise."""

import pytest
from sampling import LEAST, QUICK, SHARE, kept, measured

CHEAP = ["a.py::cheap[1]", "a.py::cheap[2]"]
MANY = [f"a.py::many[{i}]" for i in range(8)]
LONG = ["a.py::long"]
TESTS = CHEAP + MANY + LONG
SECONDS = {"a.py::many": 3.5 * QUICK, "a.py::long": 6.0 * SHARE}
"""A quick run may keep one of four of `many`, and a share one of ceil(3.5 QUICK / SHARE) = 2."""


def test_a_quick_run_keeps_cheap_tests_and_a_part_of_many_but_no_long_test():
    assert kept(TESTS, SECONDS) == [*CHEAP, MANY[0], MANY[4]]


@pytest.mark.parametrize("share", [0, 1, 2**24])
def test_a_share_keeps_cheap_tests_and_its_part_of_many(share):
    chosen = kept(TESTS, SECONDS, share)
    assert chosen[:2] == CHEAP
    assert [test for test in chosen if test in MANY] in (MANY[::2], MANY[1::2])


def test_neighbouring_shares_together_run_every_test():
    of_each = [set(kept(TESTS, SECONDS, share)) for share in range(100, 106)]
    assert set.union(*of_each) == set(TESTS)
    assert sum("a.py::long" in chosen for chosen in of_each) == 1


def test_the_measured_times_are_those_of_slow_functions():
    assert min(measured().values()) >= LEAST
