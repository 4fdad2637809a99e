"""grpo_ref: a readable NumPy reference of the GRPO family, with manual gradients.

The public names by stage of the pipeline, each with the first line of its documentation. A name is imported
when it is first used, so that `import grpo_ref` costs next to nothing.

The records that stages hand to one another: plain, immutable bundles of arrays.   (grpo_ref.types)
  Batch        What the slots of a recipe may read when the loss is computed. All log-probabilities are in nats.
  Completions  Groups of sampled completions and what the task's verifier says of them.
  Term         A value per token, written beside its derivative.

The tasks: each a small file that builds one automaton with its verifier.   (grpo_ref.learning.tasks)
  TASKS  Every task by the name of its function, which takes its settings as keyword arguments with defaults.

A task: a deterministic automaton that the policy walks through, and a verifier that judges the walk.   (grpo_ref.learning.tasks.task)
  Examples  Completions to imitate.
  Task      All that `rollout` and `train` need to know of a task.

A decoder-only transformer, from tokens to logits and from the slope of the logits back to every weight.   (grpo_ref.learning.policies.transformer)
  Transformer  The sizes and choices of a transformer.

A two-layer network on the last few characters: the smallest policy that generalizes.   (grpo_ref.learning.policies.mlp)
  MLP  The sizes of the network.

A policy that is a network: it reads the prompt and what was written so far, and so it generalizes.   (grpo_ref.learning.policies.neural)
  NeuralPolicy  The kind of policy whose parameters are the weights of a network.

The kinds of policy by name, and how one is begun for a task: a table as it is, a network by imitation.   (grpo_ref.learning.policies.kinds)
  network_for  A network that fits the task: its vocabulary, and for a transformer its longest text.

Pretraining: a network learns to speak by imitation, before it is rewarded.   (grpo_ref.learning.pretraining)
  PretrainConfig  How to imitate.
  pretrain        Imitate the task's examples, step by step.

Prompts that training never draws: they show whether a policy has learned the rule or the answers.   (grpo_ref.learning.held_out)
  held_out        The task on the prompts that training never draws, all equally often.
  held_out_rates  The task's criteria on held-out prompts, a mean over one completion for each of some.

Rollout: walk the task's automaton with the policy, all runs, prompts and group members at once.   (grpo_ref.learning.rollout)
  rollout  Sample one group of completions for each prompt.
  sample   Look at given policies: completions drawn with the same fresh random numbers for every run.

Verbalized sampling: ask a model for several answers with their probabilities, and draw from those.   (grpo_ref.learning.verbalized)
  verbalized_sample  Answers drawn from the distribution that a model states, in place of samples of its own.

Rewards: what is done to the verifier's reward before it becomes an advantage.   (grpo_ref.kernels.rewards)
  task_reward               The reward as the task's verifier gave it.
  soft_overlong             The task's reward plus `soft_overlong_punishment`: DAPO's overlong reward shaping.
  soft_overlong_punishment  A punishment that grows over the last stretch of the budget, instead of a cliff at its end.

Filters: which groups, and which completions, take part in the update.   (grpo_ref.kernels.filters)
  all_groups         Every group takes part.
  mixed_groups       Only groups whose completions differ in reward: the others have zero advantage and teach nothing.
  pass_rate_between  Only groups that are neither nearly always right nor nearly always wrong: the 20-80 % rule.
  all_completions    Every completion takes part.
  ended_completions  Overlong filtering: completions cut off at the budget are left out, their tokens counted nowhere.
  first_of_equals    Duplicate rejection: of the completions of a group that are equal, token by token, the first one.

Advantages: how much better than its siblings was each completion?   (grpo_ref.kernels.advantages)
  group_normalized          Reward standardized within its group: GRPO's advantage.
  group_centered            Reward minus the group's mean: keeps the scale of the reward, as in Dr. GRPO.
  group_centred             Another name of `group_centered`.
  leave_one_out             Reward minus the mean of the *other* completions: an unbiased baseline.
  raw_rewards               No baseline at all: the advantage is the reward, as in plain REINFORCE.
  best_of_group             Only the best completion is rewarded, by its lead over the second best: trains pass@k.
  normal_scores             Ranks as quantiles of a normal distribution: the order counts, and most of all at the ends.
  ranked                    Only the order counts: ranks instead of rewards, so no monotone distortion of the reward matters.
  length_weighted           Reward minus the group's mean weighted by length, the baseline of least variance: OPO.
  batch_normalized          Reward standardized over the whole batch, mean and spread alike: the form of textbooks, not of TRL.
  batch_scaled              Reward centered on its group, but scaled by the spread of the whole batch.
  gpg                       Reward minus the group's mean, scaled up for the groups that teach nothing: GPG.
  normalized_then_summed    Each criterion is normalized in its group before the weighted sum, so none drowns the others: GDPO.
  normalized_then_whitened  GDPO as verl has it: the last normalization is over tokens, so long completions count more.
  whitened                  REINFORCE++ with a baseline: centered in the group, then standardized over all tokens of the batch.
  normalized_twice          Standardized in the group, then once more over all tokens of the batch.
  step_suffix_sums          Process supervision: every step has a reward, and a token is worth all steps that end after it.
  discounted                REINFORCE++: the reward stands at the last token, is discounted back, and standardized over all tokens.

Levels: over what stretch of text the importance ratio is taken.   (grpo_ref.kernels.levels)
  token_level          Every token keeps its own ratio: PPO, GRPO, DAPO.
  sequence_mean_level  All tokens of a completion share one length-normalized sequence ratio: GSPO.
  sequence_sum_level   All tokens of a completion share the full sequence ratio, the unbiased importance weight.

Surrogates: what each token contributes to the objective, and how it pushes the policy.   (grpo_ref.kernels.surrogates)
  clipped                 PPO's pessimistic surrogate; a wider clip_high is DAPO's clip-higher.
  dual_clipped            The clipped surrogate with a floor for bad tokens, whose ratio PPO leaves unbounded.
  two_sided_clipped       The clipped surrogate with a cap on the unclipped branch too: INTELLECT-2's two-sided clip.
  geometric_mean_clipped  Each token's log-ratio is clipped, then their geometric mean is the ratio of the completion: GMPO.
  importance_weighted     The policy gradient on data of an older policy, corrected by the ratio and never clipped.
  squared_ratio           The policy gradient with a square that pulls every log-ratio back to 0: DRO.
  reinforce               The plain policy gradient: no ratio, no trust region.
  cispo                   REINFORCE weighted by a clipped ratio that is held constant: no token ever loses its gradient.
  gspo_token              GSPO with a gradient of its own for each token, so that advantages may differ along a completion.
  vespo                   REINFORCE weighted by a smooth bump of the sequence ratio: stale completions fade on both sides.
  sapo                    A soft gate instead of a hard clip: the slope fades as the ratio leaves 1, and has no cliff.
  gated_ratio             A textbook's form of SAPO: it is not what the paper and the trainers compute.
  clip_cov                The clipped surrogate, and of the tokens with a large covariance a random few get no gradient at all.
  kl_cov                  Unclipped, but the few tokens that drive entropy down are held back by a penalty on their log-ratio.
  clip_cov_eligible       From which tokens `clip_cov` chooses at random.
  dppo_tv                 Total variation of token against not-token: |πθ(t) - πold(t)|, with a threshold for each direction.
  dppo_kl                 KL of token against not-token, from the old policy q to the new one p, a threshold for each direction.
  dppo_top_tv             Total variation over the K likeliest tokens and one bucket for all others.
  dppo_top_kl             KL from the old policy over the K likeliest tokens and one bucket for all others.
  binary_kl               KL from the old policy's token-or-not to the new one's, in nats.
  symmetric_kl            A textbook's binary KL mask: one term of the divergence, and no direction.
  symmetric_tv            A textbook's binary TV mask: tokens that moved back are left out as well.
  top_kl_movers           A textbook's top-k mask by KL: of each completion the k tokens with the largest term of a KL.
  top_movers              A textbook's top-k mask: of each completion the k tokens that moved most.

Penalties: how far is the policy from its reference, estimated from the sampled tokens?   (grpo_ref.kernels.penalties)
  no_penalty        No reference at all: value and slope are zero.
  k1                The log-ratio to the reference: unbiased as a value, but its expected gradient is zero.
  k2                Half the squared log-ratio: biased as a value, but its on-policy gradient is exactly that of the KL.
  k3                Unbiased, never negative and of low variance as a value; its gradient is that of KL(πref ‖ πθ).
  absolute          The absolute log-ratio: robust, with the gradient of a total variation. At v = 0 the slope is 0.
  mse               Another name of `k2`.
  straight_through  The value of one estimator with the unbiased gradient of k2.
  weighted_k1       k1 times the importance ratio, both differentiated: unbiased in value and gradient, off-policy too.
  weighted_k3       k3 times the importance ratio, both differentiated: unbiased in value and gradient, off-policy too.
  exact_kl          The divergence itself, summed over the whole vocabulary.

Aggregation: how much does each token count?   (grpo_ref.kernels.aggregation)
  sequence_mean_token_mean  Every completion counts the same, so a token of a long one counts less: GRPO.
  sequence_mean_token_sum   Sum over the tokens of a completion, mean over completions: the textbook policy gradient.
  fixed_length              Divide by a constant instead of the length: no token's weight depends on its completion's length.
  token_mean                Every token of the batch counts the same, so a long completion counts more: DAPO.
  kept_token_mean           Every token that the corrections keep counts the same; the others are out of the denominator too.
  token_sum                 Every token counts one.
  token_sum_over            Divide by a number of tokens that is known beforehand, whatever this batch holds.

Corrections: constant weights on the surrogate of each token, which the penalty does not get.   (grpo_ref.kernels.corrections)
  truncated                 Truncated importance sampling: the ratio of learner to sampler, limited.
  masked                    Masked importance sampling: the ratio where it is inside the window, 0 elsewhere; IcePop's window.
  indicator                 1 where the ratio is inside the window, 0 where it is not: a filter, and the MIS of textbooks.
  off_policy_mask           Bad completions that the policy has moved away from already are left out.
  early_stop                Nothing of a batch counts whose mean importance ratio is too high.
  top_entropy               Only the tokens at which the policy was most undecided.
  unlikely_under_reference  A textbook form of Dr. GRPO: tokens that the reference finds likely count less.

The loss: four lines that give the value and the manual gradient of every recipe.   (grpo_ref.loss)
  policy_loss  The loss of a recipe on one batch, with its gradient written by hand.
  PolicyLoss   What `policy_loss` returns.

From logits over a whole vocabulary to the loss and back, in blocks that fit the cache.   (grpo_ref.fast.logits)
  policy_loss_from_logits  The loss of a recipe and its gradient with respect to the logits, for networks with large vocabularies.
  LogitsLoss               What `policy_loss_from_logits` returns.
  token_log_probs          The log-probability of each sampled token.

`grpo_objective`: the GRPO objective of one group in one function, complete in itself.   (grpo_ref.objective)
  grpo_objective  Clipped surrogate of one group minus an explicit KL penalty; larger is better.

Check code of your own against the library: a whole loss function, or the slope of one part.   (grpo_ref.check)
  check_slope  Compare the slope that a surrogate or a penalty writes down with central differences of its value.

Recipes: an algorithm is a table of parts, and a variant is its difference from a known one.   (grpo_ref.recipes)
  RECIPES    Every recipe by name, of the papers and of the chapter: command line, tests, tables and plots follow it.
  Recipe     One algorithm: what happens between the verifier's reward and the gradient, part by part.
  Slot       A kernel with its settings, to be called with one record instead of many arrays.
  slot       A kernel and its settings as a part of a recipe.
  GRPO       Shao et al. 2024, DeepSeekMath, eq. 3 (arXiv:2402.03300)
  DR_GRPO    Liu et al. 2025, Understanding R1-Zero-like training (arXiv:2503.20783)
  DAPO       Yu et al. 2025, DAPO, eq. 8 (arXiv:2503.14476)
  RLOO       Ahmadian et al. 2024, Back to basics (arXiv:2402.14740)
  REINFORCE  Williams 1992, Simple statistical gradient-following algorithms

Optimizers: a step from parameters and gradient to new parameters. Nothing is changed in place.   (grpo_ref.learning.optim)
  SGD           Plain gradient descent.
  Adam          Gradient descent with each parameter's step scaled by its own recent gradients.
  clip_by_norm  Shorten each run's gradient to at most max_norm, keeping its direction.

How to train: sizes, step sizes and schedules. What is optimized is the recipe's business.   (grpo_ref.learning.config)
  TrainConfig  How to train; what to optimize is the recipe's business.
  config_for   The settings that suit the task, changed where told otherwise.

What one update hands to the next: policies, references, optimizer, random numbers.   (grpo_ref.learning.state)
  TrainState     All that the next update depends on: save it, and training continues to the bit.
  Update         What `train` yields after each update.
  initial_state  The reference policy, S times, before any update, where the task's arrays are.

The training to call: it takes the fast loop by itself where that one applies, the plain one elsewhere.   (grpo_ref.training)
  train  Train until config.updates updates are done, yielding after each.

Run folders: what a training run was, how it went, and all that is needed to continue it to the bit.   (grpo_ref.learning.runs)
  RunFolder  One folder on disk; every method names the file at fault in its error.
  RunError   A folder is no run of ours, is damaged, or holds another run; nothing was written.

The fast loop: many seeds, the usual recipes, few metrics.   (grpo_ref.fast.many_seeds)
  train_many  The same as the plain loop for the usual recipes, several times faster: same random numbers and curves.

Diversity: keeping the best of many completions, and noticing when a policy has only one left.   (grpo_ref.kernels.diversity)
  best_of_n          Which completion of each group to answer with: the one of the highest reward, the first of equals.
  rejection_sampled  Rejection sampling: of each group the completions of the highest rewards, to be trained on as they are.
  has_collapsed      A warning: entropy, distinct n-grams and the width of the rewards have all fallen.

The packages: docs/package_map.md has the map.   (grpo_ref)
  arrays     The array layer: which library the arrays belong to, and the few operations every kernel shares.
  types      The records that stages hand to one another: plain, immutable bundles of arrays.
  kernels    Kernels: every step of the pipeline as pure functions of arrays, each value beside its slope.
  recipes    Recipes: an algorithm is a table of parts, and a variant is its difference from a known one.
  loss       The loss: four lines that give the value and the manual gradient of every recipe.
  objective  `grpo_objective`: the GRPO objective of one group in one function, complete in itself.
  learning   Learning: policies, optimizers, rollouts and the training loop, on tasks small enough to read.
  fast       The same numbers, faster: taken where they apply, never needed to understand the rest.
  training   The training to call: it takes the fast loop by itself where that one applies, the plain one elsewhere.
  check      Check code of your own against the library: a whole loss function, or the slope of one part.
  explain    Explain a trainer's configuration: read a launch file, and say which objective it optimizes.
  lab        Experiments: every claim of the literature about the GRPO family that we test, one small file per claim.
  plots      Plots: the only package that imports matplotlib, and not before a figure is asked for.
  course     The course: problems and their grading, the folder of a student, and what was reached.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
