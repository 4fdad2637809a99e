"""The pages that compute, in a real browser: they show what the library says."""

from dataclasses import replace

import numpy as np
import pytest
from in_page import LOADED, MINUTE, SCHEMES, WIDTHS, faults

from grpo_ref import RECIPES, TASKS, config_for, iter_train, slot
from grpo_ref.plots.one_token import surrogate_at
from grpo_ref.recipes import CATALOG
from grpo_ref.recipes.titles import title_of
from grpo_ref.surrogates import clipped
from grpo_ref.web.explain import explained


def said(page, beginning):
    """Wait until the page says something that begins so, and return it all."""
    page.wait_for_function(
        "beginning => document.getElementById('status').textContent.startsWith(beginning)",
        arg=beginning,
        timeout=MINUTE,
    )
    return page.inner_text("#status")


def test_explain_says_what_the_command_says(visit):
    page = visit("explain.html")
    page.fill("#config", "loss_type=dr_grpo beta=0.04")
    page.press("#config", "Control+Enter")
    assert said(page, "Explained") == "Explained, with 2 warnings."
    assert (
        page.locator("#report h3.trap")
        .first.inner_text()
        .startswith("! Dr. GRPO that still divides by the std")
    )
    pieces = explained("trl", "loss_type=dr_grpo beta=0.04", False)["pieces"]
    prose = [f"{each['name']} {each['text']}" for each in pieces if not each["html"]]
    shown = page.locator("#report > :not(.formula, .equation)").all_text_contents()
    assert " ".join(shown).split() == " ".join(prose).split()
    assert page.locator("#report > :is(.formula, .equation):has(math)").count() == len(pieces) - len(prose)
    addresses = page.locator("#report a").evaluate_all("all => all.map(each => each.getAttribute('href'))")
    assert addresses == [f"../{address}" for each in pieces for _, address in each["links"]]
    cut = "all => all.filter(each => each.scrollWidth > each.clientWidth + 1).length"
    assert page.locator("#report .formula").evaluate_all(cut) == 0


def test_explain_knows_every_trainer_and_tells_mistakes(visit):
    page = visit("explain.html")
    page.select_option("#trainer", "verl")
    page.fill("#config", "actor:\n  clip_ratio_hihg: 0.3\n  clip_ratio_low: 0.1\n")
    page.click("#run")
    said(page, "This configuration cannot be explained; see the message below.")
    told = "verl has no key 'actor.clip_ratio_hihg' (did you mean 'clip_ratio_high'?)"
    assert page.inner_text("#report") == told
    page.check("#skip")
    page.click("#run")
    said(page, "Explained")
    told = "unknown: actor.clip_ratio_hihg (nearest: clip_ratio_high)."
    assert told in " ".join(page.locator("#report p.note").all_inner_texts())


def test_explain_takes_the_trainer_that_a_script_starts(visit):
    page = visit("explain.html")
    page.select_option("#trainer", "trl")
    page.fill("#config", "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=rloo")
    page.click("#run")
    assert said(page, "Explained").startswith("Explained as a configuration of verl ")
    assert page.input_value("#trainer") == "verl"


def rows(page):
    """Value and slope of every recipe by its title, as the table shows them."""
    shown = {}
    for row in page.locator("#rows tr").all():
        names = row.locator("th").evaluate(
            "head => head.textContent.split(head.querySelector('code').textContent)[0]"
        )
        numbers = [text.replace("\u2212", "-") for text in row.locator("td").all_inner_texts()]
        shown |= dict.fromkeys(names.split(" \u00b7 "), numbers)
    return shown


def agree(page, ratio, advantage):
    """Wait for the ratio and the advantage, and compare all rows with the kernels, to the digits shown."""
    reading = f"At \u03c1 = {ratio} and A = {advantage}:".replace("-", "\u2212")
    page.wait_for_function(
        "reading => document.getElementById('reading').textContent.startsWith(reading)", arg=reading
    )
    shown = rows(page)
    assert list(sorted(shown)) == sorted(map(title_of, CATALOG))
    for name, recipe in ((title_of(name), recipe) for name, recipe in CATALOG.items()):
        if shown[name] == ["–", "–"]:
            assert name in ("Clip-Cov", "KL-Cov", "REAL", "GVPO")
            continue
        at = surrogate_at(recipe.surrogate, np.array([ratio]), advantage)
        expected = [float(at.value[0]), float(at.slope[0])]
        assert list(map(float, shown[name])) == pytest.approx(expected, rel=1e-5, abs=1e-9), name


def test_the_surrogates_are_those_of_the_kernels(visit):
    page = visit("surrogates.html#ratio=0.8&advantage=-1.5&recipe=sapo&beside=gspo")
    assert page.input_value("#recipe") == "sapo"
    agree(page, 0.8, -1.5)
    page.focus("#ratio")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    agree(page, 0.84, -1.5)
    page.fill("#advantage + input", "2")
    page.keyboard.press("Tab")
    agree(page, 0.84, 2)
    box = page.locator("#charts svg.chart >> nth=1").bounding_box()
    across = box["x"] + box["width"] * (60 + 324 / 2) / 400  # half of the axis, from 60 to 384 of 400
    page.mouse.move(across + 30, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(across, box["y"] + 60)
    page.mouse.up()
    agree(page, 1.5, 2)
    assert "GSPO: value 2.0008, slope 0: no push" in page.inner_text("#reading")
    assert "GSPO: The ratio is that of the whole sequence." in page.inner_text("#notes")
    assert page.locator("#further a").evaluate_all("all => all.map(each => each.getAttribute('href'))") == [
        "../derivation/04_clip.html",
        "../chapters/03_ratios.html",
        "index.html#ratios/clipped",
    ]


def reward(page, run):
    """The mean reward after the last update of run 0 or 1, with all its digits."""
    return float(page.locator("#rows tr >> nth=0").locator("data").nth(run).get_attribute("value"))


SHARED = {"updates": 30, "seeds": 3, "seed": 7}
RUNS = {
    "a": {"recipe": "grpo", "clip_low": 0.2, "clip_high": 0.2, "kl_coef": 0.3},
    "b": {"recipe": "dapo", "clip_low": 0.15, "clip_high": 0.28, "kl_coef": 0},
}
OWN = {"group_size": 6, "learning_rate": 0.2, "epochs": 3}
LINK = "play.html#" + "&".join(
    f"{name}={value}"
    for name, value in {
        "task": "bandit",
        **SHARED,
        **{f"{run}.{name}": value for run, own in RUNS.items() for name, value in (own | OWN).items()},
    }.items()
)
"""Two trainings on the bandit."""


def test_the_playground_trains_as_train_does(visit):
    page = visit(LINK)  # a link with settings trains by itself
    assert said(page, "Trained") == "Trained: 30 updates of each run."
    for at, own in enumerate(RUNS.values()):
        clip = {name: own[name] for name in ("clip_low", "clip_high")}
        recipe = replace(RECIPES[own["recipe"]], surrogate=slot(clipped, **clip), kl_coef=own["kl_coef"])
        task = TASKS["bandit"]()
        *_, last = iter_train(task, recipe, config_for(task, **SHARED, **OWN))
        assert reward(page, at) == pytest.approx(last.metrics["reward"].mean(), rel=1e-9)


def test_a_link_gives_the_settings_and_the_curves_again(visit):
    page = visit("play.html")
    page.select_option("#task", "bandit")
    page.fill("#updates + input", "12")
    page.select_option("#a-recipe", "gspo")
    page.focus("#b-epochs")
    page.keyboard.press("ArrowRight")
    page.click("#train")
    said(page, "Trained")
    other = visit(page.url.rpartition("/")[2])
    assert other.url == page.url
    for run in "ab":
        for name in ("recipe", "clip_low", "clip_high", "kl_coef", "group_size", "learning_rate", "epochs"):
            chosen = [
                each.input_value(f"#{run}-{name} + input, select#{run}-{name}") for each in (page, other)
            ]
            assert chosen[0] == chosen[1], name
    assert other.input_value("#a-clip_low + input") == "0.0003"
    assert other.input_value("#b-epochs + input") == "5"
    said(other, "Trained")
    assert other.url == page.url
    assert [reward(other, run) for run in (0, 1)] == [reward(page, run) for run in (0, 1)]
    drawn = [
        each.locator("#charts path.line").evaluate_all("all => all.map(one => one.getAttribute('d'))")
        for each in (page, other)
    ]
    assert drawn[0] == drawn[1]


def test_a_training_can_be_stopped_and_begun_again(visit):
    page = visit("play.html")
    page.click("#train")
    page.wait_for_selector("#rows data")
    assert page.is_disabled("#a-recipe")
    page.click("#stop")
    assert said(page, "Stopped").endswith(" of 100 updates.")
    page.select_option("#task", "bandit")
    page.fill("#updates + input", "3")
    page.fill("#b-group_size + input", "1")
    page.select_option("#a-recipe", "sapo")
    assert (page.is_disabled("#a-clip_low"), page.input_value("#a-clip_low + input")) == (True, "")
    page.click("#train")
    assert said(page, "Trained") == "Trained: 3 updates of each run."
    assert "run B: DAPO. Every advantage is 0" in page.inner_text("#notes")


USES = {
    "play.html#task=bandit&updates=5": lambda page: said(page, "Trained"),
    "surrogates.html": lambda page: page.select_option("#recipe", "vespo"),
    "explain.html": lambda page: (page.click("#run"), said(page, "Explained")),
    "diagnose.html": lambda page: (page.click("#example"), said(page, "Read.")),
}
"""What is done in each page before it is looked at."""


@pytest.mark.parametrize("name", USES)
def test_the_pages_are_accessible_and_as_wide_as_the_screen(visit, name):
    page = visit(name)
    USES[name](page)
    for width in WIDTHS:
        for scheme in SCHEMES:
            assert faults(page, width, scheme) == [], (width, scheme)


def test_after_one_visit_no_page_needs_the_network(visit, address):
    page = visit("explain.html")
    address[1].shutdown()
    address[1].server_close()
    for name in (*USES, "index.html"):
        page.goto(address[0] + name)
        page.wait_for_function(LOADED, timeout=MINUTE)
        assert page.inner_text("#status").startswith(("Ready", "Training", "Trained"))
