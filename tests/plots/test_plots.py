"""The package of the plots itself: its names, and what importing it costs."""

import subprocess
import sys
from pathlib import Path

import pytest

from grpo_ref import plots


def test_importing_the_plots_loads_no_matplotlib():
    code = "import grpo_ref.plots, sys; print('matplotlib' in sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output == "False\n"


@pytest.mark.parametrize("name", plots.__all__)
def test_every_public_name_is_a_function_with_its_own_words(name):
    function = getattr(plots, name)
    assert function.__name__ == name
    assert function.__doc__
    assert Path(sys.modules[function.__module__].__file__).parent == Path(plots.__file__).parent
