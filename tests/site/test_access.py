"""Every page of the site in a real browser: accessibility rules, and no page wider than a phone."""

from in_page import SCHEMES, WIDTHS, faults

USUAL, PHONE = WIDTHS[1], WIDTHS[-1]


def kinds(site):
    """Return one page of every kind: the first page of each folder, and the start page."""
    return {file.parent: file for file in reversed(site.pages)}.values()


def summary(broken):
    """Return each broken rule with the number of pages that break it and an example."""
    by_rule = {}
    for where, page_faults in broken.items():
        for fault in page_faults:
            rule, example = (fault, "") if isinstance(fault, str) else fault
            by_rule.setdefault(rule, []).append((where, example[:120]))
    return {rule: (len(cases), cases[0]) for rule, cases in by_rule.items()}


def test_no_page_breaks_a_rule_or_is_wider_than_the_screen(site, page):
    broken = {}
    for file in site.pages:
        page.goto(file.as_uri())
        broken[file.relative_to(site.folder).as_posix()] = faults(page, USUAL, "light")
    assert summary(broken) == {}


def test_one_page_of_every_kind_at_every_width_in_every_scheme(site, page):
    broken = {}
    for file in kinds(site):
        for width in WIDTHS:
            for scheme in SCHEMES:
                page.goto(file.as_uri())
                broken[file.relative_to(site.folder).as_posix(), width, scheme] = faults(page, width, scheme)
    assert summary(broken) == {}


def test_no_page_is_wider_than_a_phone(site, page):
    page.set_viewport_size({"width": PHONE, "height": 800})
    wide = []
    for file in site.pages:
        page.goto(file.as_uri())
        if page.evaluate("document.documentElement.scrollWidth") > PHONE:
            wide.append(file.relative_to(site.folder).as_posix())
    assert wide == []
