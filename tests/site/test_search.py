"""The search of the site: the script that pages load, run by Node on the index of the built site."""

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

search_index = pytest.importorskip("website.search_index")

HERE = Path(__file__).parent
QUERIES = tomllib.loads((HERE / "queries.toml").read_text(encoding="utf-8"))
EVERY = QUERIES.pop("all")
FIRST, FIRST_OF_ALL = 3, 5
"""One answer has to be among so many results; all of them have to be among so many."""


def run(folder, **asked):
    """Run the search of a site by Node."""
    if not shutil.which("node"):
        pytest.skip("the search is run by Node.js")
    command = ["node", str(HERE / "search.mjs"), str(folder)]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def answers(site):
    """Search the built site for all queries."""
    return run(site.folder, queries=[*QUERIES, *EVERY])["answers"]


@pytest.mark.parametrize("query", QUERIES)
def test_an_answer_is_among_the_first(answers, query):
    first = [result["address"] for result in answers[query][:FIRST]]
    assert {each for address in first for each in (address, address.partition("#")[0])} & {*QUERIES[query]}, (
        first
    )


@pytest.mark.parametrize("query", EVERY)
def test_all_answers_are_among_the_first(answers, query):
    first = [result["address"] for result in answers[query][:FIRST_OF_ALL]]
    assert {*EVERY[query]} <= {each for address in first for each in (address, address.partition("#")[0])}


def test_every_result_leads_to_a_place_of_the_site(site, answers):
    for results in answers.values():
        for result in results:
            page, _, anchor = result["address"].partition("#")
            assert (site.folder / page).is_file()
            assert (
                not anchor or page.startswith("course/") or anchor in site.pages[site.folder / page].anchors
            )


def test_no_page_loads_the_index_before_it_is_searched(site):
    loaded = {target for page in site.pages.values() for target in page.loads}
    assert not [target for target in loaded if "search-index" in target or "searchindex" in target]


# ---- a small site ------------------------------------------------------------------------------------

PAGE = """<nav>ignored</nav><article class="bd-article"><section id="page"><p class="language">ignored</p>
<h1>{title}<a class="headerlink" href="#page">#</a></h1><p>{text}</p><section id="part"><h2>The part</h2>
<!-- search: why is it so; odd name --><p>Some words on <code>train/odd_key</code>.</p>
</section></section></article>"""


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Write a site of three pages that mention the same words."""
    folder = tmp_path_factory.mktemp("small")
    static = folder / "_static"
    pages = {
        "recipe/a.html": ("Zebra", "A page about animals."),
        "index.html": ("Start", "The zebra is mentioned, and mentioned again: zebra."),
        "notebooks/b.html": ("12. Animals: zebras", "ω and more."),
    }
    static.mkdir()
    for address, (title, text) in pages.items():
        (folder / address).parent.mkdir(exist_ok=True)
        (folder / address).write_text(PAGE.format(title=title, text=text))
    for script in (*search_index.STEMMERS, HERE.parents[1] / "docs/website/static/search.js"):
        shutil.copy(script, static)
    search_index.write_index(folder)
    return folder


def first_of(small, query):
    results = run(small, queries=[query])["answers"][query]
    return results[0]["address"] if results else None


@pytest.mark.parametrize(
    ("query", "address"),
    [
        ("zebra", "recipe/a.html"),  # the title, not the number of mentions
        ("Zebras?", "recipe/a.html"),  # the stem
        ("zeb", "recipe/a.html"),  # an unfinished word
        ("zebraic", "recipe/a.html"),  # a form that the stemmer does not know
        ("animals", "notebooks/b.html"),  # the title before the colon, without its number
        ("omega", "notebooks/b.html"),  # the name of a Greek letter
        ("why is it so", "recipe/a.html#part"),  # a question that a comment lists
        ("odd_key", "recipe/a.html#part"),  # the last name of a path
        ("log softmax", search_index.to_exercise("probabilities/log_softmax")),
        ("qqqq", None),
    ],
)
def test_what_is_first(small, query, address):
    assert first_of(small, query) == address


def test_what_is_around_an_article_and_a_link_to_another_language_are_not_read(small):
    results = run(small, queries=["ignored"])["answers"]["ignored"]
    assert not [result for result in results if result["title"] in ("Zebra", "Start")]


def test_the_script_splits_and_stems_words_as_the_index_does(small):
    docs = HERE.parents[1] / "docs"
    texts = [path.read_text(encoding="utf-8") for path in (*docs.glob("*.md"), *docs.glob("derivation/*.md"))]
    texts += [
        "reinforce++, pass@k; Dr. GRPO's 2503.14476 λ πθ actor.clip_ratio_low/high",
        "强化学习 GRPO 损失",
    ]
    for text, got in zip(texts, run(small, texts=texts)["words"], strict=True):
        # Two versions of the stemmer cut a few words at different places.
        assert [
            (one, other)
            for one, other in zip(got, search_index.stems(text), strict=True)
            if not (one.startswith(other) or other.startswith(one))
        ] == []
