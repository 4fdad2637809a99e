import pytest

from grpo_ref.plots.style import COLOURS, HATCHES, LINES, MARKERS, figure_style, new_figure, save


def test_every_series_has_its_own_colour_line_and_marker():
    assert len(set(COLOURS)) == len(set(LINES)) == len(set(MARKERS)) == len(COLOURS)
    assert len(set(HATCHES)) == len(HATCHES)


@pytest.mark.parametrize(("suffix", "begin"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")])
def test_the_suffix_decides_what_is_written(tmp_path, suffix, begin):
    with figure_style():
        figure = new_figure(1.0, 1.0)
        save(figure, tmp_path / f"empty{suffix}")
    assert (tmp_path / f"empty{suffix}").read_bytes().startswith(begin)
