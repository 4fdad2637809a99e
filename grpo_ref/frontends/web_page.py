"""A page of HTML in one file, which asks the network for nothing and is readable by night and on paper."""

import html

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
th{background:var(--soft)}td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}
pre{background:var(--soft);padding:.6rem;white-space:pre-wrap;border-left:3px solid var(--line)}
code{font:.88em/1.45 ui-monospace,monospace}details{margin:.6em 0}summary{cursor:pointer}
figure{margin:1em 0}img{max-width:100%;background:#fff}figcaption,.how{font-size:.92em;max-width:48rem}
@media print{:root{--text:#000;--page:#fff;--soft:#f2f2f4;--line:#999}
body{font-size:11pt;max-width:none;padding:0}h2,h3{break-after:avoid}pre,tr,figure{break-inside:avoid}
table{display:table}}
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What a browser may load for such a page: nothing from elsewhere, and no program."""


def web_page(title: str, body: str) -> str:
    """The whole document.

    Args:
      title: as text.
      body: as HTML.
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><main>\n{body}</main></body></html>\n"
    )
