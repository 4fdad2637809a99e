"""The public names of the wing, by module."""

from .averages import effective_weights as effective_weights
from .conversion import Conversion as Conversion, convert as convert
from .recipe_differences import Difference as Difference, contrast as contrast
from .dialect import Dialect as Dialect, flat as flat
from .gradient_change import change as change
from .description import Explanation as Explanation, explain as explain
from .understanding import Understood as Understood, understood as understood
