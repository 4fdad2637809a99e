"""The public names of the attack, by module."""

from .data_files import (
    file_of_cases as file_of_cases,
    file_of_left as file_of_left,
    freeze as freeze,
    most_of as most_of,
    reasons_of as reasons_of,
)
from .mutants import wrong_answers as wrong_answers
from .run import Outcome as Outcome, attack as attack, survivors_of as survivors_of
from .store import Store as Store
from .tables import table as table, unfit as unfit
