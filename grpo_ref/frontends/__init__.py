"""Front ends: they read arguments and render results; they compute nothing.

`__init__.pyi` lists the modules that need NumPy, rich or yaml. Each is imported when it is first used, so
that a command can say what it takes without them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
