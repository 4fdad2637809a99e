"""The grader: problems, checks, the judge and the sandbox. It knows nothing of GRPO."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
