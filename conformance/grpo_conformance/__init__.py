"""Numbers that were recorded by running the GRPO trainers, and tests of your own loss against them.

    from grpo_conformance import assert_conforms

    assert_conforms(my_loss, "dapo")                    # a loss of the family, at its published settings
    assert_conforms(my_advantages, "group_normalized")  # advantages
    assert_conforms(my_penalty, "k3")                   # a penalty per token, or weights for the sampler
    # the same loss as that of a trainer or a release, in the trainer's own keys
    assert_conforms(my_loss, "trl", loss_type="dapo", epsilon_high=0.28)
    assert_conforms(my_loss, "trl==1.9.0", loss_type="dapo", epsilon_high=0.28)

| module | job |
|---|---|
| vectors/ | the data: one JSON file for each name, and `schema.json` |
| recordings/, releases/ | the data of single trainers, and of each of their releases |
| vector | read the vectors |
| arguments | match arrays and settings to the names of a function's parameters |
| detection | recognize NumPy, PyTorch and JAX functions |
| frameworks | call a NumPy, PyTorch or JAX function, and differentiate it |
| choices | say which keys and values were recorded |
| comparison | compare two results |
| conforming | `assert_conforms`, and the report of what differs |
| trainer | find the recorded cases of a trainer's configuration |
| mistake | name the mistake, with `grpo_ref.check` if grpo_ref is installed |
| plugin | the fixture and the option of pytest |
| __main__ | the command line |
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grpo_conformance.conforming import Report, assert_conforms, conforms
    from grpo_conformance.vector import LEVELS, Vector, names, vectors

__all__ = ["LEVELS", "RECORDINGS", "Report", "Vector", "assert_conforms", "conforms", "names", "vectors"]

RECORDINGS = Path(__file__).parent / "recordings"
"""Folder of the recorded cases: `TRAINER.json`, and `by_hand/TRAINER.json` for those written one by one."""

_MODULES = {
    **{name: "conforming" for name in ("Report", "assert_conforms", "conforms")},
    **{name: "vector" for name in ("LEVELS", "Vector", "names", "vectors")},
}


# pytest imports this package in every environment where it is installed, because of the plugin. NumPy is imported
# by the first test that uses the package.
def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
