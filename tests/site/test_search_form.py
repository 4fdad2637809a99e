"""The search field in a real browser: by keyboard, on a phone, in both schemes, and without a server."""

import pytest
from in_page import SCHEMES, faults

WIDTHS = (1280, 390)


def search_from(page, file, query):
    """Open a page and type into its search field."""
    page.goto(file.as_uri())
    page.keyboard.press("Control+k")
    page.keyboard.type(query)
    page.wait_for_selector("dialog .search-results li")


def test_the_keyboard_leads_from_the_field_to_the_section(site, page):
    search_from(page, site.folder / "recipe/dapo.html", "grad norm spikes")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == "Grad norm has spikes"
    page.keyboard.press("Enter")
    page.wait_for_url("**/howto/symptoms.html#grad-norm-has-spikes")


def test_enter_shows_all_results_on_a_page(site, page):
    search_from(page, site.folder / "recipe/dapo.html", "gspo")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=gspo")
    page.wait_for_selector("main .search-results li")
    assert page.locator("main .search-results a").first.get_attribute("href").endswith("recipe/gspo.html")
    assert page.locator("main .search-results li").count() > 8
    assert page.locator("main .search-status").inner_text().endswith(" results")


def test_a_query_without_results_says_what_can_be_searched(site, page):
    page.goto(f"{(site.folder / 'search.html').as_uri()}?q=qqqq")
    page.wait_for_selector("main .search-status:has-text('Nothing matches')")
    assert page.locator("main .search-results li").count() == 0


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_results_break_no_rule_and_are_not_wider_than_the_screen(site, page, width, scheme):
    page.set_viewport_size({"width": width, "height": 800})
    search_from(page, site.folder / "index.html", "entropy")
    assert faults(page, width, scheme) == []
    page.goto(f"{(site.folder / 'search.html').as_uri()}?q=entropy")
    page.wait_for_selector("main .search-results li")
    assert faults(page, width, scheme) == []
