"""Pages of one file: what stands in them is text, and nothing comes from elsewhere."""

from html.parser import HTMLParser

import pytest
from made_up_class import HOSTILE

from grpo_ref.render.html_page import SHOWN, long_table, picture, table, text, web_page


class Cells(HTMLParser):
    """The tags of a page, and the text of each cell."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.cells = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data):
        if self.cells and data.strip():
            self.cells[-1] += data


def test_a_table_tells_numbers_and_what_is_undefined():
    found = Cells(table(["test", "run", "share", "r"], [["a<b", 3, 2 / 3, None], ["c", 0, None, -0.5]]))
    assert found.cells == ["test", "run", "share", "r", "a<b", "3", "0.67", "–", "c", "0", "–", "-0.50"]


def test_the_end_of_a_long_table_is_folded():
    rows = [[f"row {number}", number] for number in range(SHOWN + 2)]
    assert "<details>" not in long_table(["row", "number"], rows[:SHOWN])
    shown, rest = long_table(["row", "number"], rows).split("<details>")
    assert rest.startswith("<summary>2 more</summary>")
    assert (shown.count("<tr>"), rest.count("<tr>")) == (SHOWN + 1, 3)


@pytest.mark.parametrize("told", HOSTILE)
def test_any_text_is_text(told):
    body = table([told], [[told]]) + picture(b"<svg/>", told, told) + text(told)
    tags = Cells(web_page(told, body)).tags
    assert tags == Cells(web_page("a", table(["a"], [["a"]]) + picture(b"<svg/>", "a", "a") + "a")).tags
    web_page(told, body).encode()


def test_a_page_loads_nothing():
    assert "default-src 'none'" in web_page("a", "")
    assert web_page("<&>", "").count("<title>&lt;&amp;&gt;</title>") == 1
