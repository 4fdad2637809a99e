"""The public names of the plots, by module."""

from .answers import likeliest_answer as likeliest_answer
from .answers import next_tokens as next_tokens
from .attention import attention_figure as attention_figure
from .attention import token_probabilities as token_probabilities
from .covariance import covariance_figure as covariance_figure
from .curves import curves_figure as curves_figure
from .dynamics import dynamics_figure as dynamics_figure
from .dynamics import plot_dynamics as plot_dynamics
from .gradients import (
    bandit_gradient as bandit_gradient,
)
from .gradients import (
    convergence as convergence,
)
from .gradients import (
    gradient_agreement as gradient_agreement,
)
from .measures import (
    frontier_figure as frontier_figure,
)
from .measures import (
    intervals_figure as intervals_figure,
)
from .measures import (
    lines_figure as lines_figure,
)
from .measures import (
    spread_figure as spread_figure,
)
from .objective import objective_terms as objective_terms
from .objective import ratio_sweep as ratio_sweep
from .one_token import surrogate_curve as surrogate_curve
from .penalties import penalty_curve as penalty_curve
from .penalties import penalty_figure as penalty_figure
from .pushes import compared_gradients as compared_gradients
from .pushes import pushes as pushes
from .style import as_svg as as_svg
from .surrogates import (
    slopes_compared as slopes_compared,
)
from .surrogates import (
    surrogate_figure as surrogate_figure,
)
from .tokens import token_grids as token_grids
from .tokens import weights_by_length as weights_by_length
