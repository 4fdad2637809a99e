"""Run the loss functions of a trainer on the inputs of recorded cases.

`trainers.toml` names the functions. The module of each trainer hands a case over to them. `run` is the program that
a child process starts; it needs PyTorch and NumPy, and nothing of grpo_ref.
"""

import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def trainers() -> dict[str, Any]:
    """Return the table of trainers: name -> title, package, folder, distribution, recorded commit, and functions."""
    return tomllib.loads((HERE / "trainers.toml").read_text(encoding="utf-8"))
