"""The picture of docs/speed.md is drawn from the stored figures."""

import speed_picture
from svg_pictures import same_picture


def test_the_picture_is_that_of_the_stored_figures(tmp_path):
    speed_picture.main(tmp_path)
    assert same_picture(tmp_path / "speed.svg", speed_picture.FOLDER / "speed.svg"), (
        "run docs/speed_picture.py"
    )
