"""The keys of verl 1dda039b (August 2026): actor, algorithm, rollout and reward settings, with their groups."""

INNER = "policy_loss.rollout_correction"
"""The group of the correction that loss_mode=bypass_mode reads instead of algorithm.rollout_correction.

`rollout_is` is None if another key of this group is given. Without the group it is "sequence" in verl; then
loss_type is ppo_clip, which only logs it.
"""
SUBTRACTED = "kl_loss_is_subtracted"
"""Not a key: true for the first verl with a penalty in the loss, which maximized it; see `versions`."""
BEYOND_ESTIMATORS = {
    "gae": "it needs a critic's values",
}
"""Values of `adv_estimator` that verl has and that cannot be expressed here, with the reason."""
