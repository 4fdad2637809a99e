"""Build the Chinese pages of the site, in the folder `zh`.

Sphinx translates a page with its catalog in `locale`, a gettext file with each paragraph in English and in
Chinese. A paragraph without a translation stays in English. Only the pages of `tree.CHINESE` are built, and
the chapters of the course that are translated; links to all other pages lead to the English ones.
"""

import re
import shutil
from io import BytesIO
from os.path import relpath
from pathlib import Path
from posixpath import dirname, join, normpath

from grpo_ref.course.contents import OURS
from grpo_ref.course.layout import page_of
from grpo_ref.course.pages import page as chapter_page
from grpo_ref.course.pages import translated_chapter
from website.installation import with_installation
from website.links import COURSE, Links, has_course, in_markdown
from website.moving_picture import moving_picture
from website.progress import sphinx, stage
from website.tree import BUILD, CHINESE, ROOT, SOURCES

HERE = Path(__file__).parent
LOCALE, LANGUAGE = HERE / "locale", "zh_CN"
CATALOGS = LOCALE / LANGUAGE / "LC_MESSAGES"
FOLDER = "zh"
"""Folder of the Chinese pages in the site."""
CHAPTERS = {
    f"chapters/{page_of(chapter).parent.name}": chapter
    for chapter in OURS.chapters
    if translated_chapter(chapter, FOLDER)
}
"""Name of each page of a chapter that is translated as a whole -> the chapter."""
CHINESE_SOURCES, TEMPLATES = BUILD / "site-source-zh", BUILD / "site-gettext"
COURSE_LINKS = (
    '<p><a class="sd-btn sd-btn-primary" href="../course/index.html?language=zh">在浏览器里做练习</a></p>\n'
    '<p>同样在浏览器里（英文）：<a href="../course/play.html">并排训练两种配方</a>、'
    '<a href="../course/surrogates.html">拖动比率，观察代理目标</a>、'
    '<a href="../course/explain.html">查看训练配置在优化什么</a>、'
    '<a href="../course/diagnose.html">分析一次训练发生了什么</a>。</p>'
)
TOCTREE = re.compile(r"```\{toctree\}.*?```", re.DOTALL)
PROJECT = re.compile(r"\]\((?:project:)?([^):#]+)\.(?:md|ipynb)(#[^)]*)?\)")
"""A link to another page. On the start page, a link may name a page of the site by its place in the site."""
CARD = re.compile(r":link: (\S+)\n:link-type: doc")
"""The link of a card on the start page."""
ENGLISH_TUTORIALS = {
    "tutorials/instructor": "教师教程（英文）",
    "tutorials/practitioner": "工程师教程（英文）",
    "tutorials/researcher": "研究者教程（英文）",
}
"""Text of the link of a card that leads to an English page."""
PICTURE = re.compile(r"\]\((?:\.\./)*(pictures/[^)]+)\)")
ADDRESS = re.compile(r'(?<=\s)((?:src|href|action)=")([^":?#]+)')
"""The address of a page, or of a file that a page loads."""
SEARCH = ("search.html", "searchindex.js", "genindex.html", "objects.inv")
"""Files for the search, and for other projects. Readers of the Chinese pages search in the English ones."""
CONTENT_ROOT = re.compile(r'(?<= data-content_root=")')
"""Attribute with the way to the first page, from which the search field finds its index."""
HEADING = re.compile("<h1>")


def write_chinese_sources() -> None:
    """Write the pages that are translated, with links that lead from the folder `zh` to the English pages."""
    shutil.rmtree(CHINESE_SOURCES, ignore_errors=True)
    for page, path in CHINESE.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        text = with_installation(text).replace("<!-- course -->", COURSE_LINKS if has_course() else "")
        text = text.replace("<!-- moving -->", f"```{{raw}} html\n{moving_picture()}```")
        text = Links().rewritten(text, path="README.md" if page == "index" else path, page=f"{FOLDER}/{page}")
        text = _with_links(text, page)
        below = "\n".join([*list(CHINESE)[1:], *CHAPTERS])
        _write(page, TOCTREE.sub(f"```{{toctree}}\n:hidden:\n\n{below}\n```", text))
    for page, chapter in CHAPTERS.items():
        text, path = chapter_page(chapter, FOLDER), f"exercises/{page_of(chapter).as_posix()}"
        _write(page, _with_links(Links().rewritten(text, path=path, page=f"{FOLDER}/{page}"), page))


def _write(page: str, text: str) -> None:
    file = CHINESE_SOURCES / f"{page}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _with_links(text: str, page: str) -> str:
    """Return the text of a page with the links of the Chinese page."""
    text = PROJECT.sub(lambda link: f"]({_target(link[1], link[2] or '', page)})", text)
    return CARD.sub(_card, PICTURE.sub(lambda link: f"]({_picture(link[1], page)})", text))


def _target(link: str, anchor: str, page: str) -> str:
    """Return the target of a link: the Chinese page if there is one, else the English one."""
    is_place = page == "index" and not link.startswith("..")
    place = link if is_place else normpath(join(FOLDER, dirname(page), link))
    chinese = place.removeprefix(f"{FOLDER}/")
    if chinese in (*CHINESE, *CHAPTERS):
        return f"project:{relpath(chinese, dirname(page) or '.')}.md{anchor}"
    return in_markdown(f"{FOLDER}/{page}", f"{place}.html{anchor}")


def _picture(picture: str, page: str) -> str:
    """Copy a picture to the sources, and return its address."""
    copy = CHINESE_SOURCES / picture
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(SOURCES / picture, copy)
    return relpath(picture, dirname(page) or ".")


def _card(match: re.Match[str]) -> str:
    if match[1] in CHINESE:
        return match[0]
    return f":link: ../{match[1]}.html\n:link-type: url\n:link-alt: {ENGLISH_TUTORIALS[match[1]]}"


def write_templates() -> Path:
    """Write the English paragraphs of the pages as templates for the catalogs, and return their folder."""
    write_chinese_sources()
    in_english = ("-D", "language=en", "-c", str(LOCALE))
    sphinx("-q", "-E", "-b", "gettext", *in_english, str(CHINESE_SOURCES), str(TEMPLATES))
    return TEMPLATES


def make_chinese(site: Path) -> int:
    """Build the Chinese pages into the site, and return the exit status of Sphinx."""
    folder = site / FOLDER
    with stage("Chinese pages"):
        write_chinese_sources()
        doctrees = str(site.with_name("site-doctrees-zh"))
        status = sphinx(
            "-W", "--keep-going", "-E", "-d", doctrees, "-c", str(LOCALE), str(CHINESE_SOURCES), str(folder)
        )
    _remove_copies(folder, site)
    for page in (*CHINESE, *CHAPTERS):
        english, chinese = site / f"{page}.html", folder / f"{page}.html"
        text = _with_addresses(chinese.read_text(encoding="utf-8"), page, site)
        to_english, to_chinese = relpath(english, chinese.parent), relpath(chinese, english.parent)
        chinese.write_text(_with_link(text, to_english, "en", "English"), encoding="utf-8")
        text = english.read_text(encoding="utf-8")
        english.write_text(_with_link(text, to_chinese, "zh-CN", "中文"), encoding="utf-8")
    return status


def _remove_copies(folder: Path, site: Path) -> None:
    """Remove the files that the English pages have too."""
    for path in sorted(folder.rglob("*")):
        same = site / path.relative_to(folder)
        is_copy = path.suffix != ".html" and same.is_file() and same.read_bytes() == path.read_bytes()
        if path.is_file() and (is_copy or path.name in SEARCH):
            path.unlink()


def _with_addresses(text: str, page: str, site: Path) -> str:
    """Let every address lead to a file of the English pages, if the Chinese ones do not have the file.

    The course opens in Chinese.
    """

    def address(match: re.Match[str]) -> str:
        place = normpath(join(dirname(page), match[2]))
        is_here = (site / FOLDER / place).exists() or not (site / place).exists()
        return match[0] if is_here else match[1] + relpath(place, join(FOLDER, dirname(page)))

    text = text.replace(f"{COURSE}#", f"{COURSE}?language={FOLDER}#")
    return CONTENT_ROOT.sub("../", ADDRESS.sub(address, text))


def _with_link(text: str, to: str, language: str, name: str) -> str:
    """Add a link to the same page in another language, for readers and for search engines."""
    link = f'<p class="language"><a href="{to}" lang="{language}" hreflang="{language}">{name}</a></p>'
    relation = f'<link rel="alternate" href="{to}" hreflang="{language}">'
    return HEADING.sub(f"{link}<h1>", text, count=1).replace("</head>", f"{relation}</head>", 1)


def update_catalogs() -> None:
    """Take new and changed paragraphs of the English pages over to the catalogs.

    A changed paragraph keeps its translation, marked as fuzzy. Sphinx ignores it as long as it has that mark.
    """
    from babel.messages.pofile import read_po, write_po  # comes with Sphinx, which tests do not need

    templates = write_templates()
    for page in CHINESE:
        path = CATALOGS / f"{page}.po"
        with path.open("rb") as file, (templates / f"{page}.pot").open("rb") as template:
            catalog = read_po(file, locale=LANGUAGE)
            catalog.update(read_po(template))
        body = BytesIO()
        options = {
            "no_location": True,
            "omit_header": True,
            "ignore_obsolete": True,
            "include_previous": True,
        }
        write_po(body, catalog, width=0, **options)
        header = path.read_text(encoding="utf-8").split("\n\n")[0]  # with the checksum
        path.write_text(f"{header}\n\n{body.getvalue().decode().strip()}\n", encoding="utf-8")


if __name__ == "__main__":
    update_catalogs()
