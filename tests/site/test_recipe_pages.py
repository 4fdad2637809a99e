"""The pages of the recipes: sections, code, links, pictures and keys, without a build of the site."""

import contextlib
import inspect
import io
import re
from dataclasses import replace
from html import escape

import numpy as np
import pytest
from website.line_plot import Line, Plot, drawn, ticks
from website.parts import definitions
from website.recipe_pages import FOLDER, GROUPS, split, written
from website.recipe_pictures import KINDS, kind_of, picture, plots_of, small_picture
from website.trainer_keys import DIALECTS, computed, in_trainers, nearest_of_all

from grpo_ref.loss import policy_loss, policy_loss_from_rewards
from grpo_ref.recipes import CATALOG, DAPO, RECIPES, slot
from grpo_ref.recipes.titles import title_of
from grpo_ref.rewards import soft_overlong

SECTIONS = (
    *("## The loss", "## What changes from GRPO", "<!-- picture -->", "## When to use it, and what it costs"),
    *("## In NumPy", "## In a trainer", "<!-- keys -->", "<!-- parts -->", "## Go on"),
)
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s#]+)(?:#([^)\s]*))?\)")
CLAIMS = "../experiments/"


def test_every_recipe_has_a_page():
    assert {path.stem for path in FOLDER.glob("*.md")} == set(CATALOG)


@pytest.mark.parametrize("name", CATALOG)
def test_page_has_front_matter(name):
    head = written(name).head
    assert (
        {"title", "description", "name", "summary"}
        <= set(head)
        <= {"title", "description", "name", "summary", "picture"}
    )
    assert head["name"] == title_of(name)
    assert len(head["description"]) <= 160
    assert len(head["summary"].split()) <= 12
    assert head.get("picture", "surrogate") in KINDS


@pytest.mark.parametrize("name", CATALOG)
def test_page_has_the_sections_in_their_order(name):
    text = written(name).text
    expected = [
        each if name != "grpo" or "changes" not in each else "## What trainers change" for each in SECTIONS
    ]
    places = [text.find(f"\n{section}") for section in expected]
    assert [section for section, place in zip(expected, places, strict=True) if place < 0] == []
    assert places == sorted(places)
    assert text.startswith("# ")


@pytest.mark.parametrize("name", CATALOG)
def test_links_to_files_lead_somewhere(name):
    links = [(target, anchor) for target, anchor in LINK.findall(written(name).text) if ":" not in target]
    pages = {f"{each}.md" for each in CATALOG}
    assert [each for each, _ in links if each not in pages and not (FOLDER / each).exists()] == []
    for target, anchor in links:
        if target.startswith(CLAIMS) and anchor:
            assert anchor == "with-a-network"
            assert "\n### With a network\n" in (FOLDER / target).read_text(encoding="utf-8")


# ---- code ----------------------------------------------------------------------------------------


def run(name):
    """Run the blocks of a page in their order; return their names, and each block with its output."""
    space, shown = {"__name__": "page"}, []
    for block in BLOCK.findall(written(name).text):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(compile(block, f"{name}.md", "exec"), space)
        shown.append((block, output.getvalue()))
    return space, shown


def expected_output(block):
    """Return the output that the comments of a block state: beside a print, or in the lines below it.

    In the lines below a print, three spaces or more begin a remark.

    >>> expected_output('print(1)  # 1\\nprint(a)\\n# [2 3]    both\\n')
    ['1', '[2 3]']
    """
    lines = []
    below = False
    for line in block.splitlines():
        beside = re.match(r"\s*print\(.*\)\s+# (.*)", line)
        if beside:
            lines.append(beside[1])
        elif below and line.startswith("#"):
            lines.append(re.split(r"(?<=\S) {3,}(?=[a-z])", line[2:])[0])
        below = (line.strip().startswith("print(") and not beside) or (below and line.startswith("#"))
    return [each.rstrip() for each in lines]


@pytest.mark.parametrize("name", CATALOG)
def test_code_runs_and_prints_what_the_comments_state(name):
    _, shown = run(name)
    for block, output in shown:
        assert expected_output(block) == [line.rstrip() for line in output.splitlines()]
    assert any("print(" in block for block, _ in shown)


# ---- the loss of a page is the loss of the package -------------------------------------------------

SHAPE = PROMPTS, GROUP, TOKENS = 4, 5, 7


def random_batch(seed):
    """Return every input that a recipe may read, with ratios from 1/5 to 5 and a group of equal rewards."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, TOKENS + 1, SHAPE[:2])
    mask = (np.arange(TOKENS) < lengths[:, :, None]).astype(float)
    log_probs = np.log(rng.uniform(0.1, 0.9, SHAPE))
    rewards = rng.integers(0, 2, SHAPE[:2]).astype(float)
    rewards[0], rewards[1, :2] = 1.0, (0.0, 1.0)
    near = ("old_log_probs", "ref_log_probs", "rollout_log_probs", "teacher_log_probs")
    top = np.log(rng.dirichlet(np.ones(4), SHAPE)[..., :3])
    turn_ids = np.where(mask > 0, np.broadcast_to(np.arange(TOKENS) // 3, SHAPE), -1)
    return {
        **{name: np.minimum(log_probs + rng.uniform(-np.log(5), np.log(5), SHAPE), -1e-3) for name in near},
        "log_probs": log_probs,
        "rewards": rewards,
        "mask": mask,
        "lengths": lengths.astype(float),
        "entropies": rng.uniform(0.1, 2.0, SHAPE),
        "noise": rng.uniform(size=SHAPE),
        "top_log_probs": top,
        "top_rollout_log_probs": np.log(rng.dirichlet(np.ones(4), SHAPE)[..., :3]),
        "components": rng.uniform(size=(*SHAPE[:2], 2)),
        "weights": np.array([1.0, 0.5]),
        "step_rewards": rng.uniform(size=SHAPE) * mask,
        "step_ends": ((np.arange(TOKENS) % 2 == 1) & (mask > 0)).astype(float),
        "greedy_rewards": np.broadcast_to(rng.integers(0, 2, (PROMPTS, 1)).astype(float), SHAPE[:2]),
        "score_norms": rng.uniform(0.1, 1.0, SHAPE),
        "turn_ids": turn_ids,
        "turn_rewards": rng.uniform(size=(*SHAPE[:2], 3)),
        "anchor_states": rng.integers(0, 2, (*SHAPE[:2], 3)),
        "max_length": TOKENS,
    }


# DAPO's rewards are +1 and -1 in the paper and on its page, and 1 and 0 in the package
OTHERWISE = {"dapo": {"rewards": lambda rewards: 2.0 * rewards - 1.0, "buffer": 3}}
RECIPE = {"dapo": replace(DAPO, reward=slot(soft_overlong, buffer=3 / TOKENS, weight=1.0))}


@pytest.mark.parametrize("name", CATALOG)
def test_the_loss_of_the_page_is_that_of_the_package(name):
    function = run(name)[0][f"{name}_loss"]
    known = inspect.signature(policy_loss_from_rewards).parameters.keys()
    known |= inspect.signature(policy_loss).parameters.keys()
    for seed in range(5):
        batch = random_batch(seed)
        changed = OTHERWISE.get(name, {})
        batch |= {key: value(batch[key]) if callable(value) else value for key, value in changed.items()}
        arguments = {key: batch[key] for key in inspect.signature(function).parameters if key in batch}
        loss, gradient = function(**arguments)
        inputs = {key: value for key, value in batch.items() if key in known}
        result = policy_loss_from_rewards(**inputs, recipe=RECIPE.get(name, name))
        assert loss == pytest.approx(float(result.loss), rel=1e-12, abs=1e-12)
        assert np.shape(gradient) == SHAPE
        assert np.abs(gradient - result.gradient).max() <= 1e-12 * max(1.0, np.abs(gradient).max())
        assert np.abs(gradient).max() > 0.0


# ---- pictures and keys -----------------------------------------------------------------------------


def test_the_gallery_shows_every_recipe_once():
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(CATALOG)


@pytest.mark.parametrize("name", CATALOG)
def test_picture_has_axes_and_both_sides(name):
    plots = plots_of(name)
    svg = picture(name, title_of(name))
    assert all(escape(plot.x_label) in svg and escape(plot.y_label) in svg for plot in plots)
    assert {line.look for plot in plots for line in plot.lines} >= {"grpo"}
    assert all(np.isfinite([line.x, line.y]).all() for plot in plots for line in plot.lines)
    assert "nan" not in svg + small_picture(name)


def test_thumbnails_differ():
    # with one token or no mismatch, some recipes are the same function: their pages say so
    twins = {"gspo_token", "dppo_top_tv", "dppo_top_kl"}
    drawn_for = {}
    for name in CATALOG:
        drawn_for.setdefault(small_picture(name), []).append(name)
    assert [names for names in drawn_for.values() if len(set(names) - twins) > 1] == []


# worked by hand: ratio -> slope of DAPO for A = +1 and A = -1; the bounds are 0.8 and 1.28
SLOPES = {0.5: (0.5, 0.0), 0.9: (0.9, -0.9), 1.25: (1.25, -1.25), 1.5: (0.0, -1.5)}


@pytest.mark.parametrize(("ratio", "slopes"), SLOPES.items())
def test_the_plotted_slope_is_that_of_the_surrogate(ratio, slopes):
    lines = {line.look: line for line in plots_of("dapo")[0].lines}
    for look, slope in zip(("good", "bad"), slopes, strict=True):
        at = np.abs(lines[look].x - ratio).argmin()
        assert lines[look].y[at] == pytest.approx(slope, abs=0.01)


def test_the_plotted_weights_are_those_of_the_average():
    # GRPO: a token of 800 tokens counts half of one of 400; both completions count the same
    token, completion = plots_of("dr_grpo")[:2]
    for plot, ours, theirs in ((token, 1.0, 0.5), (completion, 2.0, 1.0)):
        values = {line.look: line.y[line.x == 800.0][0] for line in plot.lines}
        assert values == pytest.approx({"only": ours, "grpo": theirs})


def test_ticks_are_round_and_inside():
    assert ticks(-2.2, 1.4) == [-2.0, -1.0, 0.0, 1.0]


def test_a_plot_escapes_its_texts():
    plot = Plot("a < b", "x & y", "y", (Line(np.array([0.0, 1.0]), np.array([0.0, 1.0]), "only"),))
    assert "a &lt; b" in drawn(plot, "x")
    assert "x &amp; y" in drawn(plot, "x")


STORED = nearest_of_all()


def test_the_stored_keys_name_every_recipe_and_trainer():
    assert list(STORED) == list(CATALOG)
    assert all(list(each) == list(DIALECTS) for each in STORED.values())


SAMPLE = [(name, list(DIALECTS)[index % len(DIALECTS)]) for index, name in enumerate(CATALOG)]


@pytest.mark.parametrize(("recipe", "trainer"), [*SAMPLE, *(("dapo", name) for name in DIALECTS)])
def test_the_stored_keys_are_what_a_search_finds(recipe, trainer):
    found = computed(recipe, trainer)
    stored = STORED[recipe][trainer]
    assert stored.config == found.config, "renew docs/website/nearest_keys.json: make nearest-keys"
    assert stored.differences == found.differences, "renew docs/website/nearest_keys.json: make nearest-keys"


def test_verl_computes_dapo_with_lengths_in_tokens():
    config = STORED["dapo"]["verl"].config
    assert STORED["dapo"]["verl"].differences == ()
    assert (config["overlong_buffer_cfg.len"], config["max_resp_len"]) == (4096, 20480)
    # DAPORewardManager.run_single reads these two without a default
    assert {"overlong_buffer_cfg.penalty_factor", "overlong_buffer_cfg.log"} <= config.keys()


def test_trl_shows_the_keys_whose_defaults_earlier_releases_have_otherwise():
    # GRPOConfig of TRL 0.16 has beta=0.04, and that of 0.17 has loss_type="bnpo"
    assert "--loss_type dapo\n--beta 0.0\n--epsilon_high 0.28" in in_trainers(STORED["dapo"])


def test_the_first_trainers_come_first():
    text = in_trainers(STORED["dapo"])
    places = [text.index(f"**[{name}]") for name in ("TRL", "verl", "OpenRLHF", "NeMo-RL")]
    assert places == sorted(places)
    assert "--epsilon_high 0.28" in text


def test_no_trainer_gets_a_length_that_is_a_share():
    # a buffer in tokens is a whole number; only Tunix counts characters
    lengths = [
        value
        for everywhere in STORED.values()
        for each in everywhere.values()
        for key, value in each.config.items()
        if "buffer_len" in key or key.endswith("overlong_tokens")
    ]
    assert set(lengths) == {4096}


def test_front_matter_keeps_colons():
    assert split('---\ntitle: "DAPO: the loss"\n---\n# DAPO\n').head == {"title": "DAPO: the loss"}


@pytest.mark.parametrize("name", ["dapo", "tis", "opd"])
def test_default_picture_follows_from_the_parts(name):
    assert kind_of(name) == {"dapo": "surrogate", "tis": "corrections", "opd": "teacher"}[name]


@pytest.mark.parametrize("name", RECIPES)
def test_the_definition_runs_with_the_imports_above_it(name):
    definition, names = definitions()[name], {}
    exec(f"{definition.imports}\n\n{definition.text}", names)
    assert names[name.upper()] == RECIPES[name]
