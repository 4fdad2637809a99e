"""The attack: wrong answers made by machine from every right one, and inputs that tell them apart.

    right answers -> mutants -> which pass the checks -> search the domain -> shrink -> freeze

`__init__.pyi` lists the public names; each is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
