"""What is taken from a notebook: what is asked for and what that needs, and nothing of its experiments."""

import json

import pytest

from grpo_ref.course.classroom.entries import Unreadable
from grpo_ref.course.classroom.notebook import code_of


def notebook(*cells):
    """A notebook with these cells of code."""
    return json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells]}).encode()


def loaded(*cells):
    """The names that are there after the code of a notebook has run."""
    names = {}
    exec(code_of(notebook(*cells), ("k3",)), names)
    return names


def test_what_a_function_reads_is_made_first():
    """Also by a call, and what that call reads; a name of the function's own is none of the module's."""
    names = loaded(
        "import math\nSIZES = list(range(3))\nLAST = max(SIZES)\ndata = open('no such file')",
        "def k3(a, b):\n    data = 1\n    return math.exp(LAST) + data",
    )
    assert names["k3"](0, 0) == pytest.approx(1 + 7.389056098930650)
    assert "data" not in names


def test_a_function_may_be_made_by_a_call_or_without_a_def():
    assert loaded("from functools import partial", "k3 = partial(max, 2)")["k3"](1) == 2
    assert loaded("k3 = lambda a, b: a - b")["k3"](3, 1) == 2


def test_a_result_does_not_take_the_place_of_its_function():
    assert callable(loaded("def k3(a, b): return a", "k3 = k3(1, 2)")["k3"])


def test_a_choice_between_definitions_is_one():
    names = loaded(
        "try:\n    import no_such_module as m\nexcept ImportError:\n    m = None", "if m is None: k3 = abs"
    )
    assert names["k3"](-1) == 1


def test_what_a_function_reads_may_be_filled_later():
    names = loaded(
        "SIZES = {}\nterms = []\nlast = 0",
        "SIZES['one'] = abs(-1)\nSIZES.update(two=2)\nfor n in range(3):\n    terms.append(n)",
        "for n in open('no such file'): pass",
        "terms = tuple(terms)\nterms[0].bit_length()",
        "def k3(a, b): return SIZES, terms",
    )
    assert names["k3"](0, 0) == ({"one": 1, "two": 2}, (0, 1, 2))
    assert "last" not in names


def test_a_function_may_stand_in_a_block():
    names = loaded(
        "import contextlib, io", "with contextlib.suppress(KeyError):\n    def k3(a, b): return a - b"
    )
    assert names["k3"](3, 1) == 2


def test_a_function_may_change_a_value_of_the_module():
    names = loaded(
        "calls = 0\nf = lambda a: abs(a)", "def k3(a, b):\n    global calls\n    calls += 1\n    return f(a)"
    )
    assert (names["k3"](-1, 0), names["calls"]) == (1, 1)


def test_what_cannot_be_imported_fails_where_it_is_used():
    """Modules on the same line are there; a later import of the same name takes its place."""
    names = loaded(
        "from __future__ import annotations\nimport math, no_such_module as plt",
        "from no_such_module.parts import *\nimport no_such_module as m\nimport math as m",
        "def k3(a, b):\n    if b: plt.plot(a)\n    return m.exp(math.log(a))",
    )
    assert names["k3"](2.0, False) == pytest.approx(2.0)
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        names["k3"](2.0, True)


def test_a_decorator_and_a_call_may_fill_what_is_read():
    names = loaded(
        "KNOWN = {}\ndef known(f): KNOWN[f.__name__] = f\ndef settle():\n    global SIZE\n    SIZE = 3",
        "@known\ndef one(a): return a",
        "settle()\ndef k3(a, b): return KNOWN['one'](a) + SIZE",
    )
    assert names["k3"](2, 0) == 5


def test_a_function_may_take_the_place_of_one_that_it_calls():
    assert (
        loaded("def k3(a, b): return a", "def twice(f): return lambda a, b: 2 * f(a, b)", "k3 = twice(k3)")[
            "k3"
        ](1, 2)
        == 2
    )


def test_names_are_those_of_a_notebook_at_its_end():
    names = loaded(
        "abs = 3", "if __name__ == '__main__':\n    SIZE = 2", "del abs", "def k3(a, b): return abs(a) * SIZE"
    )
    assert names["k3"](-1, 0) == 2


def test_signs_of_magics_in_python_are_python():
    """A line of an expression may begin with %; statements may be timed; what is only timed gives nothing."""
    names = loaded(
        '%%time\ndef k3(a, b):\n    """\n! text?\n"""\n    return ("%d"\n% a, SIZE)',
        "%time SIZE = 3\nlen?",
        "%%timeit\nSIZE = 4",
    )
    assert names["k3"](1, 2) == ("1", 3)


def test_a_faulty_cell_that_defines_nothing_is_left_out():
    assert loaded("display(1); abs?", "def k3(a, b): return 1")["k3"](1, 2) == 1
    with pytest.raises(SyntaxError):
        loaded("def f(:\n    pass", "def k3(a, b): return 1")


def test_a_module_is_not_changed_by_calls_of_its_functions():
    assert loaded("import math", "math.sqrt(-1)", "def k3(a, b): return math.exp(0)")["k3"](1, 2) == 1


def test_what_plots_is_left_out_with_its_imports():
    names = loaded(
        "import no_such_module as plt\nfrom math import *",
        "class Size:\n    LARGE = exp(0)\ndef plot(): plt.show()",
        "def k3(a, b): return Size.LARGE",
    )
    assert names["k3"](1, 2) == 1
    assert "plot" not in names


def test_what_is_imported_from_the_future_comes_first():
    names = loaded("import numpy as np", "from __future__ import annotations", "def k3(a: Tokens): return 1")
    assert names["k3"](0) == 1


def test_without_what_is_asked_for_all_definitions_are_there():
    assert loaded("def K3(a, b): return 1", "x = K3(1, 2)").keys() == {"__builtins__", "K3"}


def test_experiments_are_left_out():
    cell = "k3(1, 2)\nfor x in range(3): k3(x, 1)\nwith open('f') as f: y = f.read()\ny = k3(1, 2)"
    assert loaded("def k3(a, b): return 1 / 0", cell, "%timeit k3(1, 2)").keys() == {"__builtins__", "k3"}


@pytest.mark.parametrize("text", [b"", b"[]", b'{"cells": 1}', b'{"cells": [{}]}'])
def test_what_is_none_is_told(text):
    with pytest.raises(Unreadable, match="is not a readable notebook"):
        code_of(text, ())
