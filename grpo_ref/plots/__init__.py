"""Plots: the only package that imports matplotlib."""

from grpo_ref.plots.answers import likeliest_answer, next_tokens
from grpo_ref.plots.divergence import frontier_figure, penalty_curve, penalty_figure, spread_figure
from grpo_ref.plots.dynamics import dynamics_figure, plot_dynamics
from grpo_ref.plots.experiment import experiment_figure, plot_experiment
from grpo_ref.plots.gallery import covariance_figure, slopes_compared, surrogate_curve, surrogate_figure
from grpo_ref.plots.gradients import bandit_gradient, convergence, gradient_agreement
from grpo_ref.plots.lines import lines_figure
from grpo_ref.plots.objective import objective_terms, ratio_sweep
from grpo_ref.plots.pushes import compared_gradients, pushes
from grpo_ref.plots.tokens import token_grids, weights_by_length
