"""Everything that search engines and previews read: titles, descriptions, addresses, pictures, 404.html."""

import functools
import http.server
import threading
from xml.etree import ElementTree

import pytest

pytest.importorskip("pydata_sphinx_theme")
from in_page import CHROMIUM, OPTIONS
from website import cards, heads

PAGE = """<html lang="en"><head><title>4. The clip — grpo_ref</title></head><body><article><h1>4. The clip<a
class="headerlink" href="#x">#</a></h1><p>{}</p></article></body></html>"""
ROOT = "https://example.org/ref/"


def with_head(text, address, root=ROOT):
    head = heads.head_of(text, address)
    return heads.with_head(text, address, head, root, cards.path_of)


@pytest.mark.parametrize(
    ("address", "title"),
    [
        ("derivation/04_clip.html", "The clip: a step of the derivation of GRPO"),
        ("howto/clip.html", "The clip"),
        ("glossary.html", "GRPO glossary: symbols and terms"),
    ],
)
def test_a_title_has_the_words_that_people_search_for(address, title):
    assert heads.head_of(PAGE.format("Text."), address).title == title


def test_a_title_that_the_page_chose_stays():
    text = PAGE.format("Text.").replace("<title>4. The clip", "<title>DAPO: the loss")
    assert heads.head_of(text, "recipe/dapo.html").title == "DAPO: the loss"


def test_a_description_that_the_page_chose_stays_and_is_written_once():
    chosen = '<meta content="A &amp; B" name="description" />'
    text = with_head(PAGE.format("Text.").replace("</head>", f"{chosen}</head>"), "recipe/dapo.html")
    assert text.count('name="description"') == 1
    assert '<meta name="description" content="A &amp; B">' in text


def test_a_long_description_ends_with_a_sentence_or_with_dots():
    sentence = "Sixty letters are here, which is a sentence of a fitting size."  # 62 characters
    assert heads.description_of(f"<p>{' '.join([sentence] * 4)}</p>") == f"{sentence} {sentence}"
    endless = heads.description_of(f"<p>{'word ' * 100}</p>")
    assert endless == "word " * 31 + "..."


def test_the_address_decides_all_that_is_absolute():
    text = with_head(PAGE.format("Text."), "recipe/dapo.html")
    assert f'<link rel="canonical" href="{ROOT}recipe/dapo.html">' in text
    assert f'<meta property="og:image" content="{ROOT}_static/cards/recipe-dapo.png">' in text
    assert f'href="{ROOT}derivation/">' in with_head(PAGE.format("Text."), "derivation/index.html")
    assert "example.org" not in with_head(PAGE.format("Text."), "recipe/dapo.html", root="")


@pytest.mark.parametrize("address", ["404.html", "search.html", "source/grpo_ref/loss.py.html"])
def test_search_engines_do_not_list_what_is_no_answer(address):
    assert '<meta name="robots" content="noindex">' in with_head(PAGE.format("Text."), address)


def test_a_whole_site(tmp_path, monkeypatch):
    monkeypatch.setattr(heads, "write_cards", lambda site: cards.path_of)
    for address in ("index.html", "derivation/index.html", "source/a.py.html"):
        (tmp_path / address).parent.mkdir(exist_ok=True)
        (tmp_path / address).write_text(PAGE.format("Text."))
    heads.write_heads(tmp_path, ROOT.rstrip("/"))
    places = [each.text for each in ElementTree.parse(tmp_path / "sitemap.xml").iterfind(".//{*}loc")]
    assert places == [f"{ROOT}derivation/", ROOT]
    assert f"Sitemap: {ROOT}sitemap.xml" in (tmp_path / "robots.txt").read_text()
    assert f'<base href="{ROOT}">' in (tmp_path / "404.html").read_text()


def test_a_picture_has_the_size_that_networks_expect(tmp_path):
    from PIL import Image

    cards.draw(tmp_path / "x.png", "DAPO", "What it changes", cards.plots_of("dapo")[0])
    with Image.open(tmp_path / "x.png") as image:
        assert image.size == (1200, 630)


class _Missing(http.server.SimpleHTTPRequestHandler):
    """A server that answers each unknown address with 404.html, as static hosts do."""

    def send_error(self, code, message=None, explain=None):
        self.send_response(code)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(heads.not_found("").encode())

    def log_message(self, *args):
        pass


def test_the_page_for_unknown_addresses_finds_the_root_at_any_depth(tmp_path):
    playwright = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM:
        pytest.skip("there is no Chromium")
    (tmp_path / "ref/_static").mkdir(parents=True)
    (tmp_path / "ref/objects.inv").write_text("")
    handler = functools.partial(_Missing, directory=str(tmp_path))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_port}/ref/"
    with server, playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
        page = browser.new_page()
        for place in ("none.html", "a/b/none.html"):
            page.goto(root + place)
            page.wait_for_selector("base", state="attached")
            assert page.evaluate("document.querySelector('a').href") == f"{root}index.html"
            assert page.evaluate("document.querySelector('form').action") == f"{root}search.html"
        browser.close()
        server.shutdown()
