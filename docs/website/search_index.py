"""The search of the site: an index of the finished pages, for `static/search.js`.

An entry is a page, a section of a page, a documented name or an exercise. The index stores how much each word
counts for each entry (BM25 with more weight for words of the title), so the script has only to add numbers.
The script splits and stems words in the same way as this module: a test compares them.
"""

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html import unescape
from html.parser import HTMLParser
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import snowballstemmer
import sphinx.search

from grpo_ref.course.contents import CHAPTERS, OURS
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.recipes import RECIPES
from grpo_ref.web.statements import statement_html
from website.links import to_exercise

INDEX = "_static/search-index.js"
UNLISTED = ("404", "genindex", "search", "source/", "course/", "zh/")
"""Beginnings of the paths of pages that the search does not lead to. Exercises are entries of their own."""


class Kind(NamedTuple):
    """A kind of page: its name in the results, and the factor of its score."""

    name: str
    factor: float


KINDS = {
    r"recipe/": Kind("Recipe", 1.15),
    r"course/": Kind("Exercise", 1.05),
    r"howto/symptoms": Kind("Symptom", 1.15),
    r"howto/": Kind("Guide", 0.9),
    r"experiments/": Kind("Claim", 1.1),
    r"derivation/": Kind("Derivation", 1.1),
    r"chapters/": Kind("Chapter", 1.0),
    r"notebooks/": Kind("Notebook", 0.95),
    r"trainers/\w+_changes": Kind("Changes of a trainer", 0.6),
    r"trainers/\w+.html#trap-": Kind("Trap", 0.7),
    r"trainers/\w+.html#(recipes|recorded-numbers|what-does|which-keys|does-your)": Kind("Trainer", 0.5),
    r"trainers/(trl|verl)\.html": Kind("Trainer", 1.3),
    r"trainers/": Kind("Trainer", 1.0),
    r"tutorials/": Kind("Tutorial", 1.0),
    r"api/": Kind("Reference", 0.85),
    r"handout/": Kind("Handout", 0.7),
    r"decisions/": Kind("Decision", 0.5),
    r"more/": Kind("More", 0.6),
    r"changelog": Kind("Changes", 0.3),
    r"contributing": Kind("Contributing", 0.4),
    r"security": Kind("Security", 0.4),
    r"glossary": Kind("Glossary", 1.2),
    r"": Kind("Page", 0.9),
}
"""Pattern of an address -> kind of the page or section. The first that fits counts."""
NAMING = re.compile(r"glossary\.html|trainers/\w+\.html#keys")
"""Places whose tables have in their first column the names that the place explains."""
OTHER_NAMES = {
    "advantages/mixed_groups": ["advantage zero", "advantages are 0"],
    "aggregation/sequence_mean": ["length normalization"],
    "ratios/clipped": ["clip higher"],
}
"""Exercise -> other names. A page lists them in a comment, for which a statement has no place."""
WHOLE = "experiments/"
"""Beginning of the addresses of pages whose sections have no entries of their own."""
UNREAD = ("See also", "Go on")
"""Titles of sections that contain only links."""

# ---- words -------------------------------------------------------------------------------------------

WORD = re.compile(r"[^\W_][\w/.@+\-]*")
PARTS = re.compile(r"[_/.@+\-]+")
PATH, NAME = re.compile(r"[/.]+"), re.compile(r"[_@+\-]")
"""The separator of names in a path such as `actor/kl_loss`, and a sign that a name is more than a word."""
HAN = re.compile(r"[\u4e00-\u9fff]+")
GREEK = {
    letter: unicodedata.name(letter).removeprefix("GREEK SMALL LETTER ").lower()
    for letter in "αβγδεζηθικλμνξοπρστυφχψω"
}
"""Greek letter -> its name, because people type beta where a page has β."""
MEANINGS = {"zero": "0", "slope": "gradient", "slopes": "gradient", "derivative": "gradient"}
"""Word -> word that means the same."""
_stem = cache(snowballstemmer.stemmer("english").stemWord)


def stems(text: str) -> list[str]:
    """Return the stems of the words of a text. A name such as `train/clip_ratio` counts with all its parts.

    >>> stems("Losses of Dr. GRPO: 2503.14476, β")
    ['loss', 'of', 'dr', 'grpo', '2503.14476', '2503', '14476', 'beta']
    >>> stems("train/clip_ratio")
    ['train/clip_ratio', 'clip_ratio', 'train', 'clip', 'ratio']
    """
    text = "".join(f" {GREEK[each]} " if each in GREEK else each for each in text.lower())
    return [stem for match in WORD.findall(text) for stem in _split_word(match)]


def _split_word(word: str) -> Iterator[str]:
    word = word.rstrip("/.@-")
    if han := HAN.findall(word):
        yield from (run[at : at + 2] for run in han for at in range(max(1, len(run) - 1)))
    elif len(parts := [part for part in PARTS.split(word) if part]) > 1 or word.endswith("+"):
        names = [name for name in PATH.split(word) if NAME.search(name)] if PATH.search(word) else []
        yield from (word, *names, *map(_stem_part, parts))
    else:
        yield _stem_part(word)


def _stem_part(word: str) -> str:
    return str(_stem(MEANINGS.get(word, word)))


# ---- entries -----------------------------------------------------------------------------------------


@dataclass
class Entry:
    """A place that a search can lead to.

    Attributes:
      address: path of the page from the root of the site, with the anchor.
      title: title of the page or section.
      above: title of the page that a section belongs to.
      aliases: other names and questions that lead here; a query that equals one has the entry as its answer.
      key_text: words that count more than the text: first columns of tables, and a first line in italics.
      text: the text.
    """

    address: str
    title: str = ""
    above: str = ""
    aliases: list[str] = field(default_factory=list)
    key_text: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def kind(self) -> int:
        """Return the number of the kind."""
        return next(place for place, pattern in enumerate(KINDS) if re.match(pattern, self.address))

    def lead(self, length: int = 130) -> str:
        """Return the beginning of the text, cut after a word."""
        text = re.sub(r" (?=[,.;:)])", "", " ".join(" ".join(self.text).split()))
        return text if len(text) <= length else text[:length].rpartition(" ")[0] + " ..."


SILENT = {"script", "style", "math", "svg", "nav", "button"}
"""Elements whose text is not read."""
UNREAD_CLASSES = ("headerlink", "language")
"""Links to a heading, and to the page in another language."""
VOID = {"br", "img", "input", "hr", "wbr", "link", "meta", "col"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5"}
ALIASES = re.compile(r"\s*search: (.+?)\s*", re.DOTALL)
"""A comment with the words that people type: `<!-- search: loss is zero; loss always 0 -->`."""


class Reader(HTMLParser):
    """Reads the entries of one page: the page, its sections down to h3, and documented names."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.entries = [Entry(address)]
        self._open = [("article", self.entries[0])]
        self._ignored = 0
        self._is_article = self._is_heading = self._is_key = self._is_opening = False
        self._column = 0

    @property
    def _now(self) -> Entry:
        return self._open[-1][1]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a section, a heading or an element that is not read."""
        values = {name: value or "" for name, value in attrs}
        self._is_article |= tag == "article"
        if not self._is_article or tag in VOID:
            return
        if self._ignored or tag in SILENT or values.get("class") in UNREAD_CLASSES:
            self._ignored += 1
        elif tag == "section":
            # The outermost section is the page. A section below h3 belongs to the section around it, and all
            # sections of a claim's page belong to the page.
            depth = sum(name == "section" for name, _ in self._open)
            is_entry = 1 <= depth <= 2 and not self._now.address.startswith(WHOLE)
            self._open.append((tag, self._new(f"#{values['id']}") if is_entry else self._now))
        elif tag == "dl":
            self._open.append((tag, self._now))
        elif tag == "dt" and "sig-object" in values.get("class", "") and "id" in values:
            entry = self._new(f"#{values['id']}")
            entry.title = values["id"].rpartition(".")[2]
            entry.aliases.append(values["id"])
            self._open[-1] = ("dl", entry)
        elif tag in HEADINGS:
            self._is_heading = not self._now.title
        elif tag == "tr":
            self._column = 0
        elif tag == "td":
            self._column += 1
            self._is_key = self._column == 1
        elif tag == "em":
            self._is_opening = not self._now.text

    def _new(self, anchor: str) -> Entry:
        page = self.entries[0]
        self.entries.append(Entry(page.address + anchor, above=page.title))
        return self.entries[-1]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Do nothing: an element without content has no text."""

    def handle_endtag(self, tag: str) -> None:
        """End what was begun."""
        if not self._is_article or tag in VOID:
            return
        if self._ignored:
            self._ignored -= 1
        elif tag == "article":
            self._is_article = False
        elif tag in HEADINGS:
            self._is_heading = False
        elif tag == "td":
            self._is_key = False
        elif tag == "em":
            self._is_opening = False
        elif len(self._open) > 1 and self._open[-1][0] == tag:
            self._open.pop()

    def handle_comment(self, data: str) -> None:
        """Read the aliases of a section."""
        if self._is_article and (match := ALIASES.fullmatch(data)):
            self._now.aliases += match[1].split("; ")

    def handle_data(self, data: str) -> None:
        """Read text."""
        if not self._is_article or self._ignored:
            return
        if self._is_heading:
            self._now.title += " ".join(data.split("\n"))
        elif data.strip():
            if self._is_key or self._is_opening:
                self._now.key_text.append(data)
            if not self._is_opening:
                self._now.text.append(data)


PAPER = re.compile(r"\d{4}\.\d{5}")


def entries_of(site: Path) -> list[Entry]:
    """Return the entries of all pages of a site, and one for each exercise of the course."""
    entries = []
    for file in sorted(site.rglob("*.html")):
        address = file.relative_to(site).as_posix()
        if not address.startswith(UNLISTED):
            reader = Reader(address)
            reader.feed(file.read_text(encoding="utf-8"))
            page = reader.entries[0]
            name = file.stem if file.stem != "index" else file.parent.name
            page.aliases += [name, name.replace("_", " ")]
            if file.parent.name == "recipe" and file.stem in RECIPES:
                page.aliases += PAPER.findall(RECIPES[file.stem].source)
            for entry in reader.entries:
                if NAMING.match(entry.address):
                    entry.aliases += entry.key_text
            entries += [entry for entry in reader.entries if entry.title and entry.title not in UNREAD]
    return entries + [_exercise(each) for each in OURS.ids]


def _exercise(name: str) -> Entry:
    problem = PROBLEMS[name]
    statement = re.sub("<[^>]*>", " ", statement_html(problem))
    return Entry(
        to_exercise(name),
        problem.title,
        CHAPTERS[name.partition("/")[0]],
        [name, Path(name).name, f"{problem.title} in NumPy", *OTHER_NAMES.get(name, ())],
        text=[unescape(statement)],
    )


# ---- index -------------------------------------------------------------------------------------------

STOP_WORDS = frozenset(
    """
    a an and are as at be but by can do does did explained for from get go goes has have how i if in is it
    its me my of on or so that the their then there they this to was what when where which why will with
    you your
    """.split()
)
"""Words that decide nothing, as they are typed."""
SATURATION, LENGTH = 1.2, 0.5
"""BM25's k and b."""
TITLE, ALIAS, KEY = 8.0, 5.0, 3.0
"""Weight of a word of the title, of an alias, and of a table's first column. A word of the text has 1."""
SCALE = 8
"""Impacts are stored as integers, times this factor."""
FIRST, SHARE = 40, 0.6
"""Entries that are stored for a word: so many, and all others with this share of the largest impact."""
NUMBER = re.compile(r"[\d.+\-/e]*")


def counted(entry: Entry) -> dict[str, float]:
    """Return the weighted number of each word of an entry. Numbers count where they name something."""
    weighted: defaultdict[str, float] = defaultdict(float)
    for weight, texts in ((TITLE, [entry.title]), (KEY, entry.key_text), (1.0, entry.text)):
        for word in stems(" ".join(texts)):
            if weight > 1.0 or not NUMBER.fullmatch(word) or PAPER.fullmatch(word):
                weighted[word] += weight
    kind = [*KINDS.values()][entry.kind()].name
    for word in set(stems(" ".join([kind, *entry.aliases]))):
        weighted[word] += ALIAS
    return weighted


def index_of(entries: list[Entry]) -> dict[str, object]:
    """Return the index, which is written as JSON.

    `stop` has the stop words, `kinds` the name and the factor of each kind. `entries` has address, title,
    title above, number of the kind, and beginning of the text. The address of a section is only the anchor;
    its page is the last entry before it with a path. `words` maps a stem to pairs of numbers: the place of
    an entry, as the difference from the place before, and its impact. `exact` maps the stems of a title or
    an alias to entries.
    """
    counts = [counted(entry) for entry in entries]
    lengths = [sum(each.values()) for each in counts]
    mean = sum(lengths) / len(lengths)
    frequency = Counter(word for each in counts for word in each)
    postings: dict[str, list[tuple[int, int]]] = {}
    for place, each in enumerate(counts):
        norm = SATURATION * (1 - LENGTH + LENGTH * lengths[place] / mean)
        for word, weight in each.items():
            rarity = log(1 + len(entries) / frequency[word])
            impact = round(SCALE * rarity * weight * (SATURATION + 1) / (weight + norm))
            if impact and word not in STOP_WORDS:
                postings.setdefault(word, []).append((place, impact))
    return {
        "stop": sorted(STOP_WORDS),
        "kinds": list(KINDS.values()),
        "entries": [_listed(entry) for entry in entries],
        "words": {word: _packed(postings[word]) for word in sorted(postings)},
        "exact": exact(entries),
    }


def _listed(entry: Entry) -> list[object]:
    page, mark, anchor = entry.address.partition("#")
    is_section = mark and not page.endswith("course/index.html")
    return [
        mark + anchor if is_section else entry.address,
        " ".join(entry.title.split()),
        "" if is_section else entry.above,
        entry.kind(),
        entry.lead(),
    ]


def _packed(posted: list[tuple[int, int]]) -> list[int]:
    ranked = sorted(posted, key=lambda each: -each[1])
    largest = sorted(ranked[:FIRST] + [each for each in ranked[FIRST:] if each[1] >= SHARE * ranked[0][1]])
    places = [place for place, _ in largest]
    steps = [place - before for place, before in zip(places, [0, *places], strict=False)]
    return [number for step, (_, impact) in zip(steps, largest, strict=True) for number in (step, impact)]


NUMBERED = re.compile(r"^\d+\. ")


def phrase(text: str) -> str:
    """Return the stems of a text without its stop words, as one text.

    >>> phrase("Why is the loss zero?"), phrase("4. The clip")
    ('loss 0', 'clip')
    """
    split = WORD.findall(NUMBERED.sub("", text.lower()))
    return " ".join(stems(" ".join(word for word in split if word not in STOP_WORDS)))


def exact(entries: list[Entry]) -> dict[str, list[int]]:
    """Return the entries whose title or alias is a phrase, by phrase."""
    answers: dict[str, list[int]] = {}
    for place, entry in enumerate(entries):
        names = (entry.title, entry.title.partition(":")[0], *entry.aliases)
        for text in dict.fromkeys(map(phrase, names)):
            if text:
                answers.setdefault(text, []).append(place)
    return answers


def write_index(site: Path) -> None:
    """Write the index of a finished site, as a script: a page that was opened from a disk can load it too."""
    index = json.dumps(index_of(entries_of(site)), ensure_ascii=False, separators=(",", ":"))
    (site / INDEX).write_text(f"siteSearch.index = {index};\n", encoding="utf-8")


# ---- Sphinx ------------------------------------------------------------------------------------------

STEMMERS = [
    Path(sphinx.search.__file__).with_name("minified-js") / f"{name}-stemmer.js"
    for name in ("base", "english")
]
"""Sphinx's copy of the Snowball stemmer in JavaScript."""


def setup(app: Any) -> dict[str, bool]:
    """Replace Sphinx's own search: no index of Sphinx, and its stemmer for the script of this one."""
    app.connect("builder-inited", _without_search)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _without_search(app: Any) -> None:
    app.builder.search = False
    app.config.html_static_path += map(str, STEMMERS)
