"""A folder that is deeper than Python recurses, and whose path is longer than the system accepts."""

import os


def deep_folder(folder, depth):
    """Make a folder, and in it a folder, and so on."""
    here = os.getcwd()
    folder.mkdir()
    os.chdir(folder)
    try:
        for _ in range(depth - 1):
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.chdir(here)
