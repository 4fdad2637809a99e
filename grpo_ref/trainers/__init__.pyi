"""The public names of the dialects, by module."""

import grpo_ref.listing

from .convert import Conversion as Conversion, convert as convert
from .dialect import Dialect as Dialect, flat as flat
from .explain import Explanation as Explanation, explain as explain
from .replay import Verdict as Verdict, shipped as shipped, verdicts as verdicts

TRAINERS: tuple[str, ...]
DIALECTS: grpo_ref.listing.LazyListing[Dialect]
