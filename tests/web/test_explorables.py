"""The pages that compute, in a real browser: they show what the library says."""

import pytest
from click.testing import CliRunner
from in_page import MINUTE, SCHEMES, WIDTHS, faults

from grpo_ref.frontends.cli import main


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


USES = {"explain.html": lambda page: (page.click("#run"), said(page, "Explained"))}
"""What is done in each page before it is looked at."""


@pytest.mark.parametrize("name", USES)
def test_the_pages_are_accessible_and_as_wide_as_the_screen(visit, name):
    page = visit(name)
    USES[name](page)
    for width in WIDTHS:
        for scheme in SCHEMES:
            assert faults(page, width, scheme) == [], (width, scheme)
