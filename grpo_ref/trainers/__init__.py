"""The trainers' dialects: their own keys and defaults give the recipe that each one computes.

Each trainer has a folder that owns all that is known of it: its keys and what they do (`keys.py`), how they
become a recipe (`__init__.py`, with the `DIALECT`), its traps (`traps.py`), what it alone does (`quirks.py`)
and numbers that were recorded from it (`recorded.json`). Only `__init__.py` is needed.
"""

from grpo_ref.listing import Listing
from grpo_ref.trainers import open_instruct, openrlhf, rlinf, trl, understand_r1_zero, verl
from grpo_ref.trainers.dialect import Dialect

_TRAINERS = (trl, verl, open_instruct, rlinf, openrlhf, understand_r1_zero)
DIALECTS: Listing[Dialect] = Listing("dialect", {one.DIALECT.name: one.DIALECT for one in _TRAINERS})
"""Every dialect by name."""
