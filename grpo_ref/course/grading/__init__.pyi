"""The modules that need NumPy, which the judge imports when it has come to them."""

from . import snapshot as snapshot, wire as wire
