"""Statements as a page shows them."""

import re
import xml.etree.ElementTree as ElementTree
from unicodedata import normalize

import pytest

from grpo_ref.course.exercises import PROBLEMS, translated
from grpo_ref.course.rendering.statement import statement
from grpo_ref.web.build import package_files, translations
from grpo_ref.web.statements import Group, Link, statement_html

WORDS = ("clinic/read_the_curve",)
"""Exercises whose problem is set off from the text, and is no formula."""


def _elements(name):
    return ElementTree.fromstring(f"<all>{statement_html(PROBLEMS[name])}</all>")


def test_title_and_command_are_left_out():
    text = statement_html(PROBLEMS["kl/k3"])
    assert text.startswith("<p>")
    assert "<h2>Your task</h2>" in text
    assert "GRADING.md" not in text
    assert "Check me" not in text


def test_without_a_site_the_statement_names_commands():
    text = statement_html(PROBLEMS["ratios/clipped"])
    assert "recipe/" not in text
    assert "<code>grpo-ref recipes dapo</code>" in text


def test_the_id_of_another_exercise_opens_it():
    text = statement_html(PROBLEMS["advantages/group_normalized"])
    assert 'Next: <a href="#advantages/centered"><code>advantages/centered</code></a> omits' in text


def test_in_a_site_the_statement_links_to_pages_in_place_of_commands():
    groups = [Group("Derivation", [Link("4. The clip", "../d.html"), Link("A < B", "../b.html")])]
    text = statement_html(PROBLEMS["ratios/clipped"], groups)
    last = '<li>Derivation: <a href="../d.html">4. The clip</a>, <a href="../b.html">A &lt; B</a></li></ul>'
    assert text.rstrip().endswith(last)
    assert "grpo-ref recipes" not in text
    assert text.count("<h2>See also</h2>") == 1


def test_a_formula_is_typeset_and_an_example_is_not():
    parts = _elements("kl/k3")
    assert [part.tag for part in parts].count("div") == 1
    assert "".join(parts.find("div").itertext()) == "v=log\u00a0πθ−log\u00a0πref, k3=e−v−1+v".replace(
        "\u00a0", ""
    )
    assert all(part.text.startswith(">>> k3(") for part in parts.iter("pre"))
    assert len(list(parts.iter("pre"))) > 1


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_shown_as_code_is_an_example(name):
    shown = [part.text for part in _elements(name).iter("pre")]
    assert name in WORDS or all(text.startswith(">>> ") for text in shown)


def test_a_formula_in_a_list_is_typeset_too():
    assert statement_html(PROBLEMS["training/train_language"]).count("<math ") == 2


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_letter_is_lost(name):
    shown = "".join(_elements(name).itertext())
    assert _letters(shown) == _letters(_plain(statement(PROBLEMS[name])))


def _plain(text):
    """A statement without its first and last line, its signs of Markdown, and powers of ten."""
    text = text.split("\n\n", 2)[2].rpartition("\nCheck me")[0]
    return re.sub(r"(?m)^## |The picture is in \w+\.svg\.", "", text).replace("1e-", "1")


def _letters(text):
    plain = normalize("NFKD", text.replace("1e-", "1").replace("∑", "Σ").replace("∏", "Π"))
    return sorted(letter for letter in plain if letter.isalpha())


@pytest.mark.parametrize("name", translations("zh")["exercises"])
def test_a_chinese_statement_is_typeset_like_the_english_one(name):
    text = statement_html(translated(PROBLEMS[name], "zh"))
    kinds = [part.tag for part in ElementTree.fromstring(f"<all>{text}</all>")]
    english = [part.tag for part in _elements(name)]
    assert kinds.count("div") == english.count("div") > 0
    assert kinds.count("pre") == english.count("pre") > 0
    assert kinds.count("table") == english.count("table") > 0
    assert kinds[0] == "p"
    assert not re.search("[一-鿿]\n[一-鿿]", text)  # would be shown as a space


def test_translations_have_what_the_page_shows():
    exercises = translations("zh")["exercises"]
    shown = exercises["ratios/sapo"]
    assert (shown["title"], shown["about"]) == ("SAPO 的软门控", "中等，2 分")
    assert "<h2>任务</h2>" in shown["statement"]
    assert '<img alt="斜率随比率' in shown["statement"]
    assert len(shown["hints"]) == 3
    assert "network/grpo_step" not in exercises
    assert translations("zh")["chapters"]["ratios"] == "比率与截断"
    assert translations("zh")["grading"].startswith("<p><strong>你的函数会收到什么。</strong>")


def test_the_links_of_a_chinese_statement_have_chinese_headings():
    problem = translated(PROBLEMS["ratios/sapo"], "zh")
    text = statement_html(problem, [Group("Recipes", [Link("SAPO", "../recipe/sapo.html")])])
    assert '<li>配方: <a href="../recipe/sapo.html">SAPO</a></li>' in text


def test_the_python_of_the_page_does_not_contain_the_translations():
    names = [name for name, _ in package_files()]
    assert "grpo_ref/course/exercises/ratios/sapo/statement.md" in names
    assert not any(name.endswith(".zh.md") for name in names)
