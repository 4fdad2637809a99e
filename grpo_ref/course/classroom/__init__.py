"""A whole class: who handed in what, and its grading in the sandbox for strangers; it writes nothing."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
