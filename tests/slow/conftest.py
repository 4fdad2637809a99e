"""Tests that train for minutes; without `--slow` they are skipped (see `make test-learning`)."""

import pytest


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="train networks for minutes")


@pytest.fixture(autouse=True)
def slow(request):
    """Skips the test unless slow ones are asked for."""
    if not request.config.getoption("--slow", default=False):
        pytest.skip("it trains for minutes: make test-learning")
