"""How strangers' text is shown: in Markdown nothing in it is a mark, and what has no form is replaced."""

import pytest

from grpo_ref.render.sentences import LONGEST, in_fence, in_markdown, visible

# text -> the same as a line of Markdown
LINES = {
    "0.5 is too small: expected -1, 1 + 1": "0.5 is too small: expected -1, 1 + 1",
    "*a* _b_ `c` [d](e) <f> &g; |h| ~~i~~ $j$": (
        r"\*a\* \_b\_ \`c\` \[d\](e) \<f\> \&g; \|h\| \~\~i\~\~ \$j\$"
    ),
    "# a": r"\# a",
    "- a": r"\- a",
    "-1": "-1",
    "---": r"\---",
    "1. a": r"1\. a",
    "12) a": r"12\) a",
    "http://a.b www.a.b me@a.b": r"http\://a.b www\.a.b me\@a.b",
    " a\n\n\tb ": "a b",
    "a\\": "a\\\\",
}


@pytest.mark.parametrize(("text", "line"), LINES.items())
def test_a_line_of_markdown(text, line):
    assert in_markdown(text) == line


def test_a_fence_is_longer_than_any_within():
    assert in_fence("a") == "```text\na\n```"
    assert in_fence("````\na ``` b") == "`````text\n````\na ``` b\n`````"


def test_what_has_no_form_is_replaced_and_far_too_much_is_cut():
    assert visible("a\x00\x1b\u202e\ud800\ufeff\x85b\n\tü 李 🙂") == "a" + "\ufffd" * 6 + "b\n\tü 李 🙂"
    assert visible("x" * (LONGEST + 3)) == "x" * LONGEST + " ... (3 more characters)"
