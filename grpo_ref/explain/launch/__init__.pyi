"""The public names of reading what was launched."""

from .reading import Launch as Launch, launch_of as launch_of, launches as launches
from .text import Hole as Hole, Text as Text
from .trees import Beside as Beside, read_tree as read_tree
from .values import NoLaunch as NoLaunch, Unknown as Unknown
