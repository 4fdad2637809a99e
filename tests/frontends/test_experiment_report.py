"""The page of the experiments: its table, and the page that the table is put into."""

import pytest

from grpo_ref.frontends.experiment_report import BEGIN, END, in_readme


def test_the_table_stands_between_the_marks():
    text = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    assert in_readme(text, "| new |") == f"before\n{BEGIN}\n| new |\n{END}\nafter\n"


def test_a_page_needs_its_marks():
    with pytest.raises(ValueError, match="expected the marks"):
        in_readme("nothing", "table")
