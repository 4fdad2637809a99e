import re

import pytest

from grpo_ref.plots.style import (
    COLOURS,
    HATCHES,
    LINES,
    MARKERS,
    figure_style,
    new_figure,
    save,
    small_svg,
)


def test_every_series_has_its_own_colour_line_and_marker():
    assert len(set(COLOURS)) == len(set(LINES)) == len(set(MARKERS)) == len(COLOURS)
    assert len(set(HATCHES)) == len(HATCHES)


@pytest.mark.parametrize(("suffix", "begin"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")])
def test_the_suffix_decides_what_is_written(tmp_path, suffix, begin):
    with figure_style():
        figure = new_figure(1.0, 1.0)
        save(figure, tmp_path / f"empty{suffix}")
    assert (tmp_path / f"empty{suffix}").read_bytes().startswith(begin)


def test_a_small_svg_keeps_its_texts_and_rounds_its_coordinates():
    with figure_style():
        figure = new_figure(2.0, 1.0)
        figure.subplots().plot([0.0, 1.0], [0.12345, 1.0], label="reward 0.12345")
        figure.legend()
    svg = small_svg(figure).decode()
    assert ">reward 0.12345</text>" in svg
    path = re.search(r'<path d="M ([\d.]+) ([\d.]+)', svg)
    assert all(len(number.partition(".")[2]) <= 1 for number in path.groups())
