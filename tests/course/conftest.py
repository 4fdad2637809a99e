"""Grade a text for the tests of the grader."""

import pytest
from little_exercise import judge


@pytest.fixture
def judged(tmp_path):
    """Grade a file with the given text."""

    return lambda text: judge(tmp_path, text)
