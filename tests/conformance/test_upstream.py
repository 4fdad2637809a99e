"""The reports for the trainers: their form, and their numbers where this library computes them too."""

import ast
import math
import re
from datetime import date
from pathlib import Path

import pytest
import yaml

from grpo_ref.parity.replay import rebuild

FOLDER = Path(__file__).parents[2] / "docs" / "upstream"
REPORTS = {path.stem: path for path in sorted(FOLDER.glob("*.md")) if path.stem != "index"}
FIELDS = {"title", "trainer", "version", "status", "checked", "quantity", "expected", "computed"}
SECTIONS = [
    *("Smallest batch", "Program", "Expected", "Computed", "Source", "Possible cause"),
    *("Known upstream", "How it was run"),
]


def parts(name):
    """Return the front matter and the text of a report."""
    _, front, text = REPORTS[name].read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(front), text


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_has_its_fields_and_sections(name):
    front, text = parts(name)
    assert set(front) == FIELDS
    assert front["status"] in ("new", "reported")
    assert date.fromisoformat(front["checked"]).year >= 2026
    assert all(isinstance(each, float) for each in front["expected"] + front["computed"])
    assert text.strip().startswith(f"# {front['title']}\n")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == SECTIONS


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_links_to_a_line_and_says_what_is_known(name):
    front, text = parts(name)
    source = text[text.index("## Source") : text.index("## Possible cause")]
    assert re.search(r"/blob/[0-9a-f]{40}/\S+#L\d+\)", source)
    known = text[text.index("## Known upstream") : text.index("## How it was run")]
    assert ("/issues/" in known or "/pull/" in known) or front["status"] == "new"
    assert ("None found." in known) == (front["status"] == "new")


@pytest.mark.parametrize("name", REPORTS)
def test_a_program_is_python_and_prints(name):
    _, text = parts(name)
    tree = ast.parse(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1])
    assert any(isinstance(node, ast.Name) and node.id == "print" for node in ast.walk(tree))


def test_the_index_lists_every_report_and_says_that_nothing_was_filed():
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert "**None of these reports was filed.**" in index.partition("|")[0]
    rows = re.findall(
        r"^\| \[(.+?)\]\((\w+)\.md\) \| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$", index, re.MULTILINE
    )
    listed = {name: (title, *rest) for title, name, *rest in rows}
    keys = ("title", "trainer", "version", "status", "checked")
    assert listed == {name: tuple(parts(name)[0][key] for key in keys) for name in REPORTS}


# ---- the numbers --------------------------------------------------------------------------------


def ours(trainer, config, given, size, call="loss"):
    """Return the gradients or advantages that this library computes, as a flat list."""
    case = {"trainer": trainer, "call": call, "config": config, "given": {name: name for name in given}}
    numbers = rebuild(case, {"group_size": size, **given})
    return numbers["value" if call == "advantages" else "grad_logp"].ravel().tolist()


def completions(number, new, old):
    """Completions of one token with advantage 1, by the probabilities of the new and the old policy."""
    rows = {"log_probs": new, "old_log_probs": old}
    arrays = {name: [[math.log(value)]] * number for name, value in rows.items()}
    return {**arrays, "advantages": [1.0] * number, "mask": [[1]] * number}


def advantages(estimator, rewards, **keys):
    given = {"rewards": rewards, "mask": [[1]] * len(rewards)}
    return ours("verl", {"adv_estimator": estimator, **keys}, given, len(rewards), "advantages")


def geo_mean():
    config = {"loss_mode": "geo_mean"}
    alone = ours("verl", config, completions(1, 0.5, 0.5), 1)
    return ours("verl", config, completions(4, 0.5, 0.5), 4), alone * 4  # four micro-batches, added up


def dppo_cap():
    given = completions(1, 0.1, 0.01)
    default = ours("verl", {"loss_mode": "dppo_tv"}, given, 1)
    return ours("verl", {"loss_mode": "dppo_tv", "clip_ratio_c": 20.0}, given, 1), default


def without_std():
    keys = {"norm_adv_by_std_in_grpo": False}
    return advantages("grpo", [0.0, 4.0], **keys), advantages("grpo_vectorized", [0.0, 4.0], **keys)


def singleton():
    # The group of two is 2 - 4 and 4 - 2 in both: each reward minus the other one.
    one, two = [1.0], [2.0, 4.0]
    return tuple(advantages(name, one) + advantages(name, two) for name in ("rloo", "rloo_vectorized"))


def ratio_without_limit():
    return [], ours("prime_rl", {"loss.kl_tau": 0.0}, completions(1, 0.2, 0.001), 1)


def overlong():
    # 6 = 10 - 4 tokens are free; then (6 - length) / 4, which DAPO limits to -1.
    words, characters = (3, 10, 1), (13, 19, 30)
    return [max(min((6 - n) / 4, 0.0), -1.0) for n in words], [min((6 - n) / 4, 0.0) for n in characters]


def nan_log_prob():
    # The marker is 1.0 in place of the sampler's log-probability.
    return [1.0, 1.0], [0.5 / 0.5, math.exp(math.log(0.5) - 1.0)]


NUMBERS = {
    "verl_geo_mean_micro_batches": geo_mean,
    "verl_dppo_cap": dppo_cap,
    "verl_grpo_vectorized_std": without_std,
    "verl_rloo_vectorized_singleton": singleton,
    "prime_rl_ratio_without_limit": ratio_without_limit,
    "tunix_overlong_characters": overlong,
    "open_instruct_nan_log_prob": nan_log_prob,
}


@pytest.mark.parametrize("name", REPORTS)
def test_the_numbers_of_a_report_are_right(name):
    front, _ = parts(name)
    expected, computed = NUMBERS[name]()
    # verl adds 1e-6 to a standard deviation; the reports have eight digits.
    assert expected == pytest.approx(front["expected"], rel=1e-6)
    assert computed == pytest.approx(front["computed"], rel=1e-6)
    assert front["expected"] != front["computed"]
