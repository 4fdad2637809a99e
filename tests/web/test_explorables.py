"""The pages that compute, in a real browser: they show what the library says."""

import numpy as np
import pytest
from click.testing import CliRunner
from in_page import MINUTE, SCHEMES, WIDTHS, faults

from grpo_ref import RECIPES
from grpo_ref.frontends.cli import main
from grpo_ref.plots.one_token import surrogate_at


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
    assert "! Dr. GRPO that still divides by the std" in page.locator("#report h3.trap").all_inner_texts()
    command = CliRunner().invoke(main, ["explain", "trl", "loss_type=dr_grpo", "beta=0.04"])
    pieces = page.locator("#report > *").all_text_contents()
    assert " ".join(pieces).split() == command.output.split()


def test_explain_knows_every_trainer_and_tells_mistakes(visit):
    page = visit("explain.html")
    page.select_option("#trainer", "verl")
    page.fill("#config", "actor:\n  clip_ratio_hihg: 0.3\n")
    page.click("#run")
    said(page, "This configuration cannot be explained.")
    told = "verl has no key 'actor.clip_ratio_hihg' (did you mean 'clip_ratio_high'?)"
    assert page.inner_text("#report") == told
    page.check("#skip")
    page.click("#run")
    said(page, "Explained")
    assert page.inner_text("#report p >> nth=0") == f"skipped: {told}"


def rows(page):
    """Value and slope of every recipe, as the table shows them."""
    shown = {}
    for row in page.locator("#rows tr").all():
        names = row.locator("th").evaluate("head => head.firstChild.textContent").split(", ")
        numbers = [text.replace("\u2212", "-") for text in row.locator("td").all_inner_texts()]
        shown |= dict.fromkeys(names, numbers)
    return shown


def agree(page, ratio, advantage):
    """Wait for the ratio and the advantage, and compare all rows with the kernels, to the digits shown."""
    reading = f"At \u03c1 = {ratio} and A = {advantage}:".replace("-", "\u2212")
    page.wait_for_function(
        "reading => document.getElementById('reading').textContent.startsWith(reading)", arg=reading
    )
    shown = rows(page)
    assert list(sorted(shown)) == sorted(RECIPES)
    for name, recipe in RECIPES.items():
        if shown[name] == ["–", "–"]:
            assert name in ("clip_cov", "kl_cov")
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
    page.fill("#advantage-place input[type=number]", "2")
    page.keyboard.press("Tab")
    agree(page, 0.84, 2)
    box = page.locator("#charts svg.chart >> nth=1").bounding_box()
    across = box["x"] + box["width"] * (52 + 340 / 2) / 400  # half of the axis, from 52 to 392 of 400
    page.mouse.move(across + 30, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(across, box["y"] + 60)
    page.mouse.up()
    agree(page, 1.5, 2)
    assert "gspo: value 2.0008, slope 0: pushed no more" in page.inner_text("#reading")


USES = {
    "surrogates.html": lambda page: page.select_option("#recipe", "vespo"),
    "explain.html": lambda page: (page.click("#run"), said(page, "Explained")),
}
"""What is done in each page before it is looked at."""


@pytest.mark.parametrize("name", USES)
def test_the_pages_are_accessible_and_as_wide_as_the_screen(visit, name):
    page = visit(name)
    USES[name](page)
    for width in WIDTHS:
        for scheme in SCHEMES:
            assert faults(page, width, scheme) == [], (width, scheme)
