"""The course as a web page: the programs for the browser, and the files written for them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
