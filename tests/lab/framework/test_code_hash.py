"""What changes the hash of a module's code, and what does not."""

import pytest

from grpo_ref.lab.framework import code_hash as module

ARM = '''"""Runs an arm."""
from grpo_ref.kernels import double

CHUNK = 32
"""Seeds that run together."""


def run(number):
    """Twice the number."""
    return double(number)  # no more


EXPERIMENT = Experiment(remark="It doubles.", arms={"two": arm(run, number=2)})
'''
KERNELS = '"""Kernels."""\n\n\ndef double(number):\n    return 2 * number\n'
FILES = {
    "__init__.py": "",
    "__init__.pyi": "from .arm import run as run",
    "arm.py": ARM,
    "kernels/__init__.py": KERNELS,
    "plots.py": "import grpo_ref.arm\n",
}
SAME = {
    "a comment": ("arm.py", "# no more", "# nothing else"),
    "a docstring": ("arm.py", "Twice the number", "The number, doubled"),
    "the docstring of a module": ("kernels/__init__.py", '"""Kernels."""', '"""Pure functions."""'),
    "the docstring of a constant": ("arm.py", "Seeds that run together", "Seeds of one job"),
    "what is said of an experiment": ("arm.py", "It doubles", "It doubles every number"),
    "the layout": ("arm.py", "return double(number)", "return double(\n        number\n    )"),
    "a module that is not imported": ("plots.py", "import grpo_ref.arm", "import grpo_ref.kernels"),
}
DIFFERENT = {
    "a number": ("arm.py", "32", "33"),
    "a name": ("arm.py", "CHUNK", "SEEDS"),
    "a number of an imported module": ("kernels/__init__.py", "2 *", "3 *"),
    "a text that is used": ("arm.py", "return double(number)", "return 'double(number)'"),
}


@pytest.fixture
def hash_of(tmp_path, monkeypatch):
    """The hash of a module in a little package of the same name; the package is written anew each time."""
    monkeypatch.setattr(module, "ROOT", tmp_path)

    def write(changed="", old="", new="", *, name="grpo_ref.arm"):
        for place, text in FILES.items():
            path = tmp_path / "grpo_ref" / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace(old, new) if place == changed else text)
            assert place != changed or path.read_text() != text
        for cached in (module.code_hash, module._tree, module._file_hash, module._imported):
            cached.cache_clear()
        return module.code_hash(name)

    yield write
    for cached in (module.code_hash, module._tree, module._file_hash, module._imported):
        cached.cache_clear()


@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
def test_what_changes_nothing(hash_of, change):
    assert hash_of(*change) == hash_of()


@pytest.mark.parametrize("change", DIFFERENT.values(), ids=DIFFERENT)
def test_what_changes_the_hash(hash_of, change):
    assert hash_of(*change) != hash_of()


def test_who_imports_the_package_depends_on_all_that_its_stub_names(hash_of):
    whole = hash_of(name="grpo_ref")
    assert hash_of("kernels/__init__.py", "2 *", "3 *", name="grpo_ref") != whole
    assert hash_of("plots.py", "arm", "kernels", name="grpo_ref") == whole


def test_the_hash_of_a_module_outside_the_package_follows_its_imports():
    assert module.code_hash("toy_experiment") != module.code_hash(__name__)
