"""Links between files become links between pages, and exercises open in the course."""

import pytest

pytest.importorskip("myst_nb")
from docutils.core import publish_string
from website import conf, links
from website.links import Links

from grpo_ref.course.contents import OURS

parser = pytest.importorskip("myst_parser.docutils_")

CLIP = "docs/derivation/04_clip.md"
TEXT = "[ratios/clipped](../../exercises/03_ratios/03_clipped.py)"
HANDOUT = "| P2.3 | `ratios/clipped` | 2 |"
CODE = "```console\n$ grpo-ref grade `ratios/clipped`\n```\n"


@pytest.fixture(params=[True, False], ids=["with the course", "without the course"])
def target(request, monkeypatch):
    """Return the target of a link to the exercise."""
    monkeypatch.setattr(links, "has_course", lambda: request.param)
    return (
        "line:../course/index.html#ratios/clipped" if request.param else "source:../chapters/03_ratios.html"
    )


def test_a_link_to_an_exercise_opens_it_or_its_chapter(target):
    rewriter = Links()
    text = rewriter.rewritten(TEXT, path=CLIP, page="derivation/04_clip")
    assert text == f"[ratios/clipped]({target})"


def test_an_id_in_backticks_becomes_a_link(target):
    text = Links().rewritten(HANDOUT, path="docs/handout/week-2.md", page="handout/week-2")
    assert text == f"| P2.3 | [`ratios/clipped`]({target}) | 2 |"


def test_the_text_of_a_link_and_a_block_of_code_stay_as_they_are(target):
    named = f"[`ratios/clipped`]{TEXT.partition(']')[2]}"
    assert Links().rewritten(named, path=CLIP, page="derivation/04_clip") == f"[`ratios/clipped`]({target})"
    assert Links().rewritten(CODE, path=CLIP, page="derivation/04_clip") == CODE


PAPER = "[arXiv:1707.06347](https://arxiv.org/abs/1707.06347)"


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("- PPO (arXiv:1707.06347).", f"- PPO ({PAPER})."),
        (PAPER, PAPER),
        ("[PPO, arXiv:1707.06347, sec. 3](https://a.b)", "[PPO, arXiv:1707.06347, sec. 3](https://a.b)"),
        ("`arXiv:1707.06347`", "`arXiv:1707.06347`"),
        (
            "`01_the_objective.ipynb` shows it",
            "[`01_the_objective.ipynb`](project:../notebooks/01_the_objective.ipynb) shows it",
        ),
        ("`77_none.ipynb`", "`77_none.ipynb`"),
    ],
)
def test_the_number_of_a_paper_and_the_file_name_of_a_notebook_become_links(text, rewritten):
    page = "chapters/03_ratios"
    assert Links().rewritten(text, path="exercises/03_ratios/README.md", page=page) == rewritten


@pytest.mark.parametrize("exercise", OURS.ids)
def test_no_exercise_leads_to_a_page_of_source(exercise, target):
    path = next(path for path, name in links.EXERCISES.items() if name == exercise)
    text = Links().rewritten(f"[x](../../{path})", path=CLIP, page="derivation/04_clip")
    assert "source/" not in text


def test_the_address_keeps_the_exercise():
    settings = {"myst_url_schemes": conf.myst_url_schemes, "output_encoding": "unicode"}
    html = publish_string(
        "[x](line:../course/index.html#ratios/clipped)",
        parser=parser.Parser(),
        writer="html5",
        settings_overrides=settings,
    )
    assert 'href="../course/index.html#ratios/clipped"' in html
