"""grpo_ref: a readable NumPy reference of the GRPO family, with manual gradients.

The public names in the order of the pipeline, each with the first line of its documentation. A name is imported
when it is first used, so `import grpo_ref` is fast. Everything else is in the namespaces at the end, as in
`grpo_ref.penalties.k3`.

The version of the package.   (grpo_ref.version)
  __version__  The single source of the version; pyproject.toml reads it from here.

Loss and gradient of every recipe, in one formula.   (grpo_ref.loss)
  policy_loss               Return the loss of a recipe on one batch, with its gradient written by hand.
  policy_loss_from_rewards  Apply a whole recipe: from the rewards of a batch to the loss and its gradient.

Compute a recipe's loss and its gradient from logits over a large vocabulary, block by block in the cache.   (grpo_ref.fast.logits)
  policy_loss_from_logits  Return a recipe's loss and its gradient with respect to the logits of a large vocabulary.
  token_log_probs          Return the log-probability of each sampled token.

The form of GRPO in problem sets: the objective of one group in one function, complete in itself.   (grpo_ref.objective)
  grpo_objective  Clipped surrogate of one group minus an explicit KL penalty; larger is better.

Recipes: an algorithm is a table of parts, and a variant is its difference from a known one.   (grpo_ref.recipes)
  RECIPES    Every recipe by name, in the order of all tables: those of papers and trainers, then the textbook forms.
  Recipe     One algorithm as a table of parts, from the verifier's reward to the gradient.
  slot       A kernel and its settings as a part of a recipe.
  GRPO       Shao et al. 2024, DeepSeekMath, eq. 3 (arXiv:2402.03300)
  DR_GRPO    Liu et al. 2025, Understanding R1-Zero-like training (arXiv:2503.20783)
  DAPO       TRL's and verl's form of Yu et al. 2025, DAPO (arXiv:2503.14476); eq. 8 of the paper divides per group (`group_token_mean`)
  RLOO       verl's form of Ahmadian et al. 2024, Back to basics (arXiv:2402.14740)
  REINFORCE  Williams 1992, Simple statistical gradient-following algorithms

Advantages: how much better was each completion than the others of its group?   (grpo_ref.advantages)
  group_normalized  Reward standardized within its group: GRPO's advantage.

The tasks. Each is a small file that builds an automaton and its verifier.   (grpo_ref.tasks)
  TASKS  Name -> function that builds the task. Its settings are keyword arguments with defaults.

Training on a task: `train` returns the whole history, `iter_train` yields one update after another.   (grpo_ref.training)
  train       Train policies on a task and return the history of the run.
  iter_train  Train until config.updates updates are done, yielding after each.

The settings of a training run: sizes, step sizes and schedules. The recipe is not one of them.   (grpo_ref.learning.config)
  config_for  Return the settings that suit a task, with your changes.

Compare a loss function with a recipe on generated batches.   (grpo_ref.check.compare)
  check  Another name of `compare`.

Check the slope of a surrogate or a penalty against central differences of its value.   (grpo_ref.check.slopes)
  check_slope  Compare the slope that a surrogate or a penalty returns with central differences of its value.

`grpo_ref.explain`: the objective of a launch file as a report, for scripts and notebooks.   (grpo_ref.explain.report)
  explain  Read a training configuration and report which objective it optimizes. Nothing is run.

`grpo_ref.diagnose`: report what happened in a training run, from its log and its configuration.   (grpo_ref.diagnose.diagnosis)
  diagnose  Read a training log, and its configuration if there is one, and report what happened. Everything stays local.

The packages: docs/package_map.md has the map.   (grpo_ref)
  rewards      Rewards: what is done to the verifier's reward before it becomes an advantage.
  filters      Filters: which groups, and which completions, take part in the update.
  advantages   Advantages: how much better was each completion than the others of its group?
  levels       Levels: the importance ratio per token, or one for the whole completion.
  surrogates   Surrogates: what each token contributes to the objective, and how it pushes the policy.
  penalties    Penalties: how far is the policy from its reference, estimated from the sampled tokens?
  aggregation  Aggregation: how much does each token count?
  corrections  Corrections: constant weights on the surrogate of each token; the penalty is not weighted.
  recipes      Recipes: an algorithm is a table of parts, and a variant is its difference from a known one.
  tasks        The tasks. Each is a small file that builds an automaton and its verifier.
  learning     Learning: policies, optimizers, rollouts and the training loop, on tasks small enough to read.
  types        The data records that the stages pass on: plain, immutable bundles of arrays.
  arrays       The array layer: which library the arrays belong to, and the few operations every kernel shares.
  fast         Faster code for the same numbers: many seeds at once, and losses of large vocabularies from logits.
  plots        Figures. This is the only package that imports matplotlib, and it does so when the first figure is drawn.
  course       The course: problems and their grading, a student's folder, and the student's progress.
  lab          Experiments that test claims of the literature about GRPO and its variants, one small file per claim.
"""

import importlib
from typing import Any

import lazy_loader

_lazy, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

CALLABLE = ("check", "explain", "diagnose")
"""Packages that can be called: `grpo_ref.explain("train.sh")` is `grpo_ref.explain.report.explain("train.sh")`."""

NAMESPACES = (
    *("rewards", "filters", "advantages", "levels", "surrogates", "penalties", "aggregation", "corrections"),
    *("diversity", "recipes", "types"),
)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used; for a name of a namespace, say where it is."""
    if name in CALLABLE:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in __all__ and not name.startswith("_"):
        for namespace in NAMESPACES:
            if hasattr(importlib.import_module(f"{__name__}.{namespace}"), name):
                raise ImportError(
                    f"{name} is in grpo_ref.{namespace}: from grpo_ref.{namespace} import {name}"
                )
    return _lazy(name)
