"""The built site is complete, requests nothing from another host and has no dead link."""

import re
from html import escape

import pytest
from crawl import dead, is_elsewhere, read
from package_map import PUBLIC, REFERENCE
from website.key_table import key_anchor
from website.parts import parts_of
from website.places import anchor_of
from website.recipe_pages import written
from website.tree import PAGES

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.recipes import CATALOG, RECIPES, TEXTBOOK_FORMS

IN_STYLES = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")
FORMULA = re.compile(r"<math.*?</math>", re.DOTALL)
LEFT_OVER = re.compile(r">[^<]*(?:\\|&(?:amp;|(?![#\w]))|\$)[^<]*<")
"""LaTeX left in a formula, because the converter copies commands that it does not know."""
IN_SCRIPTS = re.compile(
    r"(?:fetch|import|importScripts|Worker|\.src\s*=|\.href\s*=)\s*\(?\s*['\"`](https?:)?//"
)


def test_it_builds_without_a_warning(site):
    assert site.status == 0, site.output
    assert "WARNING" not in site.output, site.output


def test_no_page_loads_from_another_host(site):
    elsewhere = {target for page in site.pages.values() for target in page.loads if is_elsewhere(target)}
    assert not elsewhere


def test_no_style_loads_from_another_host(site):
    files = [*site.folder.rglob("*.css"), *site.folder.rglob("*.svg"), *site.pages]
    elsewhere = {
        (file.name, target)
        for file in files
        for match in IN_STYLES.findall(file.read_text(encoding="utf-8"))
        for target in match
        if target and is_elsewhere(target)
    }
    assert not elsewhere


def test_no_script_asks_another_host(site):
    files = [*site.folder.rglob("*.js"), *site.pages]
    assert not [file.name for file in files if IN_SCRIPTS.search(file.read_text(encoding="utf-8"))]


def test_every_link_inside_leads_somewhere(site):
    broken = {str(file): dead(file, site.pages) for file in site.pages}
    assert not {file: targets for file, targets in broken.items() if targets}


def test_no_link_is_absolute_so_that_any_path_may_serve_it(site):
    assert not {
        link for page in site.pages.values() for link in page.links | page.loads if link.startswith("/")
    }


NAMES = [f"{module}.{name}" for module, names in REFERENCE.items() for name in names]


@pytest.mark.parametrize("name", NAMES)
def test_documented_name_has_an_entry(site, name):
    assert any(name in page.anchors for file, page in site.pages.items() if file.parent.name == "api")


@pytest.mark.parametrize("name", CATALOG)
def test_recipe_has_a_page_with_formulas_and_its_picture(site, name):
    text = (site.folder / f"recipe/{name}.html").read_text(encoding="utf-8")
    assert "<math" in text
    assert '<svg class="plot"' in text
    assert escape(written(name)[0]["description"]) in DESCRIPTION.findall(text)


@pytest.mark.parametrize("name", DIALECTS)
def test_trainer_has_a_page_with_its_keys_and_traps(site, name):
    text = (site.folder / f"trainers/{name}.html").read_text(encoding="utf-8")
    dialect = DIALECTS[name]
    keys = {*dialect.keys.defaults, *dialect.keys.inexpressible}
    shown = {key for key in keys if f'id="{key_anchor(key)}"' in text and f">{dialect.path(key)}<" in text}
    assert shown == keys - dialect.keys.behaviours
    assert [trap.name for trap in dialect.traps if escape(trap.name, quote=False) not in text] == []


def test_trainers_are_compared_by_every_recipe(site):
    links = site.pages[site.folder / "trainers/index.html"].links
    assert {f"../recipe/{name}.html" for name in CATALOG} <= links
    assert not {f"../recipe/{name}.html" for name in TEXTBOOK_FORMS} & links


def test_textbook_forms_have_a_page_of_their_own_and_no_card_in_the_gallery(site):
    gallery = (site.folder / "recipe/index.html").read_text(encoding="utf-8")
    cards = re.findall(r'class="sd-stretched-link[^>]*href="([^"#]+)', gallery)
    assert sorted(set(cards)) == sorted(f"{name}.html" for name in CATALOG)
    sections = site.pages[site.folder / "recipe/textbook_forms.html"].anchors
    assert {name.replace("_", "-") for name in TEXTBOOK_FORMS} <= sections


@pytest.mark.parametrize("name", ["group_normalized", "clipped", "k3", "token_mean"])
def test_function_links_to_a_test_of_it(site, name):
    pages = [page for file, page in site.pages.items() if file.parent.name == "api"]
    links = next(page.links for page in pages if anchor_of(name) in page.anchors)
    assert any(link.startswith("../source/tests/") and "#L-" in link for link in links)


def test_the_map_has_every_kernel_of_every_recipe(site):
    text = (site.folder / "map.html").read_text(encoding="utf-8")
    kernels = {part.kernel.__name__ for recipe in RECIPES.values() for part in parts_of(recipe)}
    assert [name for name in kernels & set(PUBLIC) if f">{name}<" not in text] == []


@pytest.mark.parametrize("page", sorted(PAGES.values()))
def test_page_is_there(site, page):
    assert (site.folder / f"{page}.html").is_file()


def test_every_formula_is_typeset(site):
    texts = {file: file.read_text(encoding="utf-8") for file in site.pages}
    formulas = [(file.name, math) for file, text in texts.items() for math in FORMULA.findall(text)]
    assert not [(name, math) for name, math in formulas if LEFT_OVER.search(math)]


DESCRIPTION = re.compile(r'<meta name="description" content="([^"]+)">')


def test_every_page_has_one_description_and_a_title_of_its_own(site):
    texts = {file: file.read_text(encoding="utf-8") for file in site.pages}
    assert {str(file) for file, text in texts.items() if len(DESCRIPTION.findall(text)) != 1} == set()
    titles = [re.search("<title>(.*?)</title>", text)[1] for text in texts.values()]
    assert {title for title in titles if titles.count(title) > 1} == set()


def test_without_an_address_nothing_states_one(site):
    assert not [name for name in ("sitemap.xml", "robots.txt") if (site.folder / name).exists()]
    assert not [file for file in site.pages if 'rel="canonical"' in file.read_text(encoding="utf-8")]


# ---- the crawler itself ------------------------------------------------------------------------------

BROKEN = {
    "a page that is not there": '<a href="none.html">x</a>',
    "an anchor that is not there": '<a href="#none">x</a>',
    "a picture that is not there": '<img src="none.png">',
}


@pytest.mark.parametrize("html", BROKEN.values(), ids=BROKEN)
def test_the_crawler_notices(tmp_path, html):
    file = tmp_path / "page.html"
    file.write_text(f'<p id="here">{html}<a href="#here">y</a></p>')
    assert len(dead(file, {file: read(file)})) == 1


@pytest.mark.parametrize("target", ["https://a.example/x.js", "//a.example/x.js"])
def test_the_crawler_knows_another_host(target):
    assert is_elsewhere(target)


@pytest.mark.parametrize("left", ["<mi>&</mi>", "<mi>\\aligned</mi>", "<mo>&amp;</mo>", "<mi>$</mi>"])
def test_latex_that_was_left_over_is_noticed(left):
    assert LEFT_OVER.search(f"<math><mrow>{left}</mrow></math>")
    assert not LEFT_OVER.search("<math><mrow><mi>&#x003C0;</mi><mo>&lt;</mo></mrow></math>")
