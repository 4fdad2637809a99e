"""The page on the mismatch of sampler and learner: its keys have their defaults, and no kernel is missing."""

import re
from pathlib import Path

import pytest
from every_kernel import kernels_of

from grpo_ref import corrections
from grpo_ref.explain.dialects import DIALECTS

PAGE = (Path(__file__).parents[2] / "docs/mismatch.md").read_text(encoding="utf-8")
TITLES = {dialect.title.partition(" ")[0]: name for name, dialect in DIALECTS.items()}
NAMES = {
    name: TITLES[name] for name in ("verl", "TRL", "ms-swift", "slime", "SkyRL", "ROLL", "NeMo-RL", "AReaL")
}
NAMES |= {"Open Instruct": "open_instruct", "OpenRLHF": "openrlhf"}
LINES = [line for line in PAGE.splitlines() if line.startswith("| **")]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in LINES]
KEY = re.compile(r"`([\w.]+)(?:=[\w.-]+)?`(?: ([\d.][\de.-]*|True|False)(?=[,;( ]|$))?")
KEYS = [
    (NAMES[part.partition(" `")[0].strip()], key, default)
    for row in ROWS
    for part in row[-1].split(";")
    if part.partition(" `")[0].strip() in NAMES
    for key, default in KEY.findall(part)
]


@pytest.mark.parametrize(("trainer", "key", "default"), KEYS, ids=[" ".join(key) for key in KEYS])
def test_a_key_of_the_page_exists_and_has_its_default(trainer, key, default):
    defaults = DIALECTS[trainer].keys.defaults
    assert key in defaults
    if default in ("True", "False"):
        assert str(defaults[key]) == default
    elif default:
        value = defaults[key]
        assert float(value[0] if isinstance(value, list) else value) == float(default)


def test_every_correction_of_the_sampler_has_a_row():
    others = {"early_stop", "future_kl", "top_entropy", "unlikely_under_reference"}
    kernels = set(kernels_of(corrections))
    named = {name for row in ROWS for name in re.findall(r"`(\w+)", row[2])}
    assert kernels - others <= named
    assert named - kernels == {"m2po", "glm_5", "rollout_is"}
