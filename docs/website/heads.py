"""Write what search engines and previews of links read: titles, descriptions, addresses, pictures, a sitemap.

Nothing is written that needs the address of the site if the address is unknown. All links stay relative.
"""

import re
import tomllib
from collections.abc import Callable
from html import escape, unescape
from pathlib import Path
from typing import NamedTuple

from website.cards import write_cards

NAME = "grpo_ref"
SETTING = "SITE_URL"
"""Environment variable with the address of the site, for example https://example.org/grpo_ref/."""
TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
"""Titles, patterns of titles and descriptions of some pages."""
HIDDEN = ("404.html", "search.html", "source/")
"""Beginnings of the addresses that search engines must not list."""
LONGEST = 160
"""Characters of a description; search engines cut the rest."""

TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)
PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
ARTICLE = re.compile(r"<article.*?</article>", re.DOTALL)
DESCRIPTION = re.compile(
    r'<meta (?:content="([^"]*)" name="description"|name="description" content="([^"]*)")[^>]*>'
)
LINK_MARK = re.compile(r'<a\s+class="headerlink".*?</a>', re.DOTALL)
TAG = re.compile(r"<[^>]*>")
LANGUAGE = re.compile(r'<html[^>]* lang="([^"]*)"')


class Head(NamedTuple):
    """Title and description of a page."""

    title: str
    description: str


def head_of(text: str, address: str) -> Head:
    """Return the title and the description of a page, from its HTML."""
    article = match[0] if (match := ARTICLE.search(text)) else ""
    own = _plain(match[1]) if (match := TITLE.search(text)) else ""
    own = own.removesuffix(f" — {NAME}")
    heading = _plain(match[1]) if (match := HEADING.search(article)) else own
    title = TEXTS["titles"].get(address, own)
    if address not in TEXTS["titles"] and own == heading and ":" not in own and _is_english(text):
        pattern = next((each for start, each in TEXTS["patterns"].items() if re.match(start, address)), "{}")
        title = pattern.format(re.sub(r"^\d+\. ", "", own))
    if match := DESCRIPTION.search(text):
        return Head(title, unescape(match[1] or match[2]))
    return Head(title, TEXTS["descriptions"].get(address) or description_of(article) or f"{title}.")


def _is_english(text: str) -> bool:
    match = LANGUAGE.search(text)
    return match is None or match[1].startswith("en")


def _plain(html: str) -> str:
    return " ".join(unescape(TAG.sub("", LINK_MARK.sub("", html))).split())


def description_of(article: str) -> str:
    """Return the beginning of the first paragraphs without formulas, cut after a sentence if possible.

    >>> description_of("<p>The <em>clip</em>.</p><p><math>r</math></p><p>It bounds the ratio.</p>")
    'The clip. It bounds the ratio.'
    """
    text = ""
    for paragraph in PARAGRAPH.findall(article):
        if "<math" not in paragraph and "<img" not in paragraph:
            text = f"{text} {_plain(paragraph)}".strip()
        if len(text) > LONGEST / 2:
            break
    if len(text) <= LONGEST:
        return text
    begin = text[:LONGEST]
    ends = [match.end() for match in re.finditer(r"[.?!](?= )", begin)]
    return begin[: ends[-1]] if ends and ends[-1] > LONGEST / 3 else begin[:-4].rpartition(" ")[0] + " ..."


def write_heads(site: Path, root: str) -> None:
    """Write the head of every page; with an address also the pictures, the sitemap and robots.txt.

    Args:
      site: folder of the finished site.
      root: address of the site, or "" if it is unknown.
    """
    root = root and root.rstrip("/") + "/"
    (site / "404.html").write_text(not_found(root), encoding="utf-8")
    pages = {file.relative_to(site).as_posix(): file for file in sorted(site.rglob("*.html"))}
    picture = write_cards(site) if root else None
    for address, file in pages.items():
        text = file.read_text(encoding="utf-8")
        head = head_of(text, address)
        file.write_text(with_head(text, address, head, root, picture), encoding="utf-8")
    if root:
        listed = [address for address in pages if not address.startswith(HIDDEN)]
        (site / "sitemap.xml").write_text(sitemap(listed, root), encoding="utf-8")
        (site / "robots.txt").write_text(
            f"User-agent: *\nAllow: /\nSitemap: {root}sitemap.xml\n", encoding="utf-8"
        )


def with_head(text: str, address: str, head: Head, root: str, picture: Callable[[str], str] | None) -> str:
    """Return a page with its title and with the tags for search engines and previews.

    Args:
      text: the page.
      address: its path from the root of the site.
      head: its title and description.
      root: address of the site, or "".
      picture: path of the picture of an address; needed with `root` only.
    """
    title = head.title if head.title == NAME else f"{head.title} — {NAME}"
    tags = {
        "description": head.description,
        "og:title": head.title,
        "og:description": head.description,
        "og:type": "website" if address == "index.html" else "article",
        "og:site_name": NAME,
        "twitter:card": "summary_large_image" if root else "summary",
    }
    links = ""
    if root and address != "404.html":
        place = root + re.sub(r"(^|/)index\.html$", r"\1", address)
        links = f'<link rel="canonical" href="{escape(place)}">\n'
        tags["og:url"] = place
    if root and picture:
        tags["og:image"] = root + picture(address)
    if address.startswith(HIDDEN):
        tags["robots"] = "noindex"
    lines = "".join(
        f'<meta {"property" if name.startswith("og:") else "name"}="{name}" content="{escape(value)}">\n'
        for name, value in tags.items()
    )
    text = TITLE.sub(
        lambda _: f"<title>{escape(title, quote=False)}</title>", DESCRIPTION.sub("", text), count=1
    )
    return text.replace("</head>", f"{lines}{links}</head>", 1)


def sitemap(addresses: list[str], root: str) -> str:
    """Return the sitemap."""
    places = (re.sub(r"(^|/)index\.html$", r"\1", address) for address in addresses)
    lines = "".join(f"<url><loc>{escape(root + place)}</loc></url>\n" for place in places)
    schema = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{schema}">\n{lines}</urlset>\n'


def not_found(root: str) -> str:
    """Return the page for an unknown address. A server shows it at any depth, so it must find the root.

    With an address, its base is that address. Without one, a script asks the folders above for a file of the
    site.
    """
    base = f'<base href="{escape(root)}">\n' if root else ""
    script = "" if root else f"<script>{FIND_ROOT}</script>\n"
    return NOT_FOUND.replace("<!-- base -->\n", base).replace("<!-- script -->\n", script)


FIND_ROOT = """
(async () => {
  const folders = location.pathname.split("/").slice(0, -1);
  for (let depth = folders.length; depth > 0; depth--) {
    const root = folders.slice(0, depth).join("/") + "/";
    const answer = await fetch(root + "objects.inv", { method: "HEAD" }).catch(() => ({ ok: false }));
    if (!answer.ok) continue;
    const base = document.createElement("base");
    base.href = root;
    return document.head.prepend(base);
  }
})();
"""
NOT_FOUND = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<!-- base -->
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>No such page</title>
<style>
:root { color-scheme: light dark; }
a { color: inherit; }
body { font: 1.1rem/1.6 system-ui, sans-serif; max-width: 36rem; margin: 3rem auto; padding: 0 1rem; }
input, button { font: inherit; padding: 0.3rem 0.6rem; max-width: 100%; }
</style>
<!-- script -->
</head>
<body>
<main>
<h1>There is no page at this address</h1>
<p>Perhaps it was renamed. Search for it, or begin at <a href="index.html">the start page</a>.</p>
<form action="search.html"><label>Search <input type="search" name="q"></label> <button>Search</button></form>
</main>
</body>
</html>
"""
