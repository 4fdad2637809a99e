"""The attack: make wrong answers from every right one by machine, and find inputs on which they are wrong.

    right answers -> mutants -> which pass the checks -> search the domain -> shrink -> freeze

`__init__.pyi` lists the public names; each is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
