"""Figures. This is the only package that imports matplotlib, and it does so when the first figure is drawn.

`__init__.pyi` lists the public names; each is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
