"""docs/translations.py: every Chinese translation is there, up to date, and has the code of the English."""

import re
from collections import Counter

import pytest
import translations
from translations import EXERCISES, ROOT, checksum, english_of, expected, faults, main, present, update

from grpo_ref.course.contents import OURS
from grpo_ref.course.exercises import PROBLEMS, hints_of, translated
from grpo_ref.course.layout import grading_page
from grpo_ref.course.rendering.statement import statement

TRANSLATED = [name for name in OURS.ids if (EXERCISES / name / "statement.zh.md").is_file()]
EACH = pytest.mark.parametrize("name", TRANSLATED)
CHINESE = "[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]+"
CELLS = {"数": "number", "整数": "integers"}
"""Words in the columns of shapes and values of the table of the inputs."""
WORDS = set(
    "with where and elsewhere if for some completions completion of the group else over steps whose last"
    " token is or a later one turns episode all state equals i j t".split()
)
"""English words in formulas, and the symbols that such a sentence may repeat."""


def test_every_translation_exists_and_is_up_to_date():
    assert list(faults()) == []


def test_the_check_lists_what_is_expected(capsys):
    assert main([]) == 0
    assert capsys.readouterr().out == "all translations are up to date\n"
    assert set(expected()) <= set(present())


@pytest.fixture
def little(tmp_path, monkeypatch):
    """A root with one English file and its translation."""
    for name, value in {"ROOT": tmp_path, "EXERCISES": tmp_path / "a", "LOCALE": tmp_path / "b"}.items():
        monkeypatch.setattr(translations, name, value)
    monkeypatch.setattr(translations, "expected", lambda: [tmp_path / "README.zh.md"])
    (tmp_path / "README.md").write_text("one")
    (tmp_path / "README.zh.md").write_text("<!-- english: README.md 0 -->\n一\n")
    return tmp_path


def test_a_changed_english_text_makes_its_translation_stale(little, capsys):
    path = little / "README.zh.md"
    assert main(["--update", str(path)]) == 0
    assert english_of(path) == (little / "README.md", checksum(little / "README.md"))
    assert path.read_text().endswith(" -->\n一\n")
    assert main([]) == 0
    (little / "README.md").write_text("two")
    capsys.readouterr()
    assert main([]) == 1
    assert "README.zh.md: stale; README.md has changed\n" in capsys.readouterr().out
    update(path)
    assert list(faults()) == []


def test_a_missing_translation_and_a_missing_original_are_listed(little):
    (little / "README.md").unlink()
    assert list(faults()) == ["README.zh.md: README.md no longer exists"]
    (little / "README.zh.md").unlink()
    assert list(faults()) == ["README.zh.md: missing"]


def test_a_translation_names_its_original(little):
    (little / "README.zh.md").write_text("一\n")
    with pytest.raises(ValueError, match="expected a line 'english: FILE CHECKSUM'"):
        english_of(little / "README.zh.md")


def parts(name):
    """The English and the Chinese statement as they are shown."""
    return statement(PROBLEMS[name]), statement(translated(PROBLEMS[name], "zh"))


def indented(text):
    """The formulas and the examples."""
    blocks = re.findall(r"(?:^ {4}.*\n)+", text, re.MULTILINE)
    return [each for each in blocks if ">>>" not in each], [each for each in blocks if ">>>" in each]


@EACH
def test_examples_are_equal(name):
    english, chinese = map(indented, parts(name))
    assert english[1] == chinese[1] != []


@EACH
def test_formulas_are_equal_but_for_words(name):
    english, chinese = (indented(text)[0] for text in parts(name))
    assert len(english) == len(chinese) > 0
    for ours, theirs in zip("".join(english).splitlines(), "".join(chinese).splitlines(), strict=True):
        if re.search(CHINESE, theirs):  # a sentence in it may have another order
            assert pieces(ours) == pieces(theirs), (ours, theirs)
        else:
            assert ours == theirs


def pieces(formula):
    """The symbols of a formula, sorted, without words."""
    symbols = re.findall(r"\w+|[^\w\s]", re.sub(CHINESE, " ", formula))
    return sorted(symbol for symbol in symbols if symbol not in WORDS)


@EACH
def test_code_and_decimals_in_prose_are_equal(name):
    for pattern in (r"(?<!`)`[^`\n]+`(?!`)", r"\d+\.\d+"):
        english, chinese = (set(re.findall(pattern, " ".join(text.split()))) for text in parts(name))
        assert english == chinese


@EACH
def test_the_inputs_are_equal(name):
    english, chinese = (
        [line.strip("| ").split("|") for line in text.splitlines() if line.startswith("| `")]
        for text in parts(name)
    )
    assert len(english) == len(chinese) == len(PROBLEMS[name].domain.arguments)
    for ours, theirs in zip(english, chinese, strict=True):
        argument, _, shape, values = map(str.strip, ours)
        assert theirs[0].strip() == argument
        assert in_english(theirs[2]) == shape
        assert in_english(theirs[3]) == values


def in_english(cell):
    """A shape, or a range of values, with the words of the English table."""
    cell = (
        cell.strip().replace(" 或 ", " or ").replace(" 到 ", " to ").replace("、", ", ").replace("，", ", ")
    )
    return re.sub("数|整数", lambda word: CELLS[word[0]], cell.replace("整数", "integers"))


@EACH
def test_title_and_hints_are_translated(name):
    problem = translated(PROBLEMS[name], "zh")
    assert re.search(CHINESE, problem.title)
    assert len(hints_of(name, "zh")) == len(hints_of(name))
    assert all(re.search(CHINESE, hint) or hint.startswith("`") for hint in problem.hints)
    assert problem.signature == PROBLEMS[name].signature


def test_an_exercise_without_a_translation_stays_in_english():
    assert "network/grpo_step" not in TRANSLATED
    problem = PROBLEMS["network/grpo_step"]
    assert translated(problem, "zh") is problem
    assert hints_of(problem.id, "zh") == problem.hints


def test_the_readme_has_the_code_and_links_of_the_english_one():
    english, chinese = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh.md"))
    for pattern in (r"```.*?```", r"!?\]\((?!README)[^)]+\)"):
        assert Counter(re.findall(pattern, english, re.DOTALL)) == Counter(
            re.findall(pattern, chinese, re.DOTALL)
        )
    assert "](README.zh.md)" in english
    assert "](README.md)" in chinese


def test_the_page_on_grading_has_the_code_of_the_english_one():
    english, chinese = grading_page(), grading_page("zh")
    assert chinese.startswith("# ")
    for pattern in (r"`[^`\n]+`", r"\de-\d+", r"^\*\*", r"\d\d+"):
        assert Counter(re.findall(pattern, english, re.M)) == Counter(re.findall(pattern, chinese, re.M))


def test_the_chinese_start_page_says_what_is_translated():
    catalog = (translations.LOCALE / "index.po").read_text(encoding="utf-8")
    digits = "零一二三四五六七八九"
    assert (
        f"{digits[len(OURS.chapters)]}章练习中的前{digits[translations.CHAPTERS]}章；其余都是英文。"
        in catalog
    )
    for page in ("teach.md", "handout/README.md"):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert f"chapters 1 to {translations.CHAPTERS} of the nine" in " ".join(text.split())
