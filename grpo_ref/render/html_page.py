"""Make a page of HTML in one file, which needs no network and is readable in dark mode and on paper."""

import base64
import html
from collections.abc import Sequence

from grpo_ref.render.sentences import visible

Cell = str | int | float | None
"""The content of a table's cell; None is shown as a dash."""
SHOWN = 15
"""Number of rows of a long table that are shown before it is unfolded."""

STYLE = """
:root{color-scheme:light dark;--text:#1d1d1f;--page:#fff;--soft:#f2f2f4;--line:#b9b9c0;--link:#0a58a8}
@media(prefers-color-scheme:dark){
:root{--text:#e6e6ea;--page:#17171a;--soft:#26262b;--line:#55555e;--link:#8ab8ff}}
*{box-sizing:border-box}
body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:0 auto;padding:1rem;
color:var(--text);background:var(--page);overflow-wrap:anywhere}
h1,h2,h3{line-height:1.25;margin:1.6em 0 .5em}h1{margin-top:.5em}a{color:var(--link)}
table{border-collapse:collapse;display:block;overflow-x:auto;max-width:100%;
margin:.8em 0;overflow-wrap:normal}
th,td{border:1px solid var(--line);padding:.25rem .6rem;vertical-align:top;text-align:left}
th{background:var(--soft)}tbody th{font-weight:normal}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}
pre{background:var(--soft);padding:.6rem;white-space:pre-wrap;border-left:3px solid var(--line)}
code{font:.88em/1.45 ui-monospace,monospace}details{margin:.6em 0}summary{cursor:pointer}
figure{margin:1em 0}img{max-width:100%;background:#fff}figcaption,.how{font-size:.92em;max-width:48rem}
@media(max-width:40rem){table{font-size:.85em}th,td{padding:.2rem .35rem}}
@media print{:root{--text:#000;--page:#fff;--soft:#f2f2f4;--line:#999}
body{font-size:11pt;max-width:none;padding:0}h2,h3{break-after:avoid}pre,tr,figure{break-inside:avoid}
table{display:table}}
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Security policy of such a page: a browser loads nothing from other addresses, and runs no scripts."""


def web_page(title: str, body: str) -> str:
    """Return the whole document.

    Args:
      title: the title, as text.
      body: the body, as HTML.
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{text(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><main>\n{body}</main></body></html>\n"
    )


def text(content: str) -> str:
    """Escape untrusted text for HTML."""
    return html.escape(visible(content))


def table(headings: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Return a table whose first column names the rows. Numbers are aligned to the right.

    >>> table(["test", "share"], [["a", 0.5]]).count('class="number"')
    2
    """
    numeric = [any(isinstance(row[at], int | float) for row in rows) for at in range(len(headings))]
    head = "".join(
        f'<th scope="col"{_side(is_number)}>{text(heading)}</th>'
        for heading, is_number in zip(headings, numeric, strict=True)
    )
    body = []
    for first, *others in rows:
        cells = "".join(
            f"<td{_side(is_number)}>{_cell_text(cell)}</td>"
            for cell, is_number in zip(others, numeric[1:], strict=True)
        )
        body.append(f'<tr><th scope="row">{_cell_text(first)}</th>{cells}</tr>\n')
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{''.join(body)}</tbody></table>\n"


def long_table(headings: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Return a table whose first rows are shown, and whose other rows are folded."""
    shown, others = rows[:SHOWN], rows[SHOWN:]
    rest = folded(f"{len(others)} more", table(headings, others)) if others else ""
    return table(headings, shown) + rest


def folded(summary: str, body: str) -> str:
    """Return HTML that is hidden until the reader opens its summary."""
    return f"<details><summary>{text(summary)}</summary>\n{body}</details>\n"


def picture(svg: bytes, alternative: str, caption: str) -> str:
    """Return a figure embedded in the page.

    Args:
      svg: the figure.
      alternative: description of the figure, for readers who do not see it.
      caption: text below the figure.
    """
    source = base64.b64encode(svg).decode()
    return (
        f'<figure><img src="data:image/svg+xml;base64,{source}" alt="{text(alternative)}">'
        f"<figcaption>{text(caption)}</figcaption></figure>\n"
    )


def _side(is_number: bool) -> str:
    return ' class="number"' if is_number else ""


def _cell_text(cell: Cell) -> str:
    if cell is None:
        return "–"
    return f"{cell:.2f}" if isinstance(cell, float) else text(str(cell))
