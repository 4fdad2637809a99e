"""The names of metrics, and the rows of a log."""

import pytest

from grpo_ref.diagnose.log import log_of, quantities, releases_of, trainer_of, trainers

RELATED = ({"trl", "ms_swift"}, {"verl", "roll"})
"""Trainers of which one has names of the other, and more names of its own."""


def test_every_metric_has_a_quantity_with_a_meaning():
    for names in trainers().values():
        for quantity in [*names.plain.values(), *(each for _, each in names.patterns)]:
            assert quantities()[quantity.removeprefix("1").removeprefix("-")].about.endswith(".")


def test_no_other_trainer_logs_the_names_that_tell_a_trainer():
    for trainer, names in trainers().items():
        for metric in names.tells:
            others = [
                other
                for other, each in trainers().items()
                if each.quantity(metric) and other != trainer and {trainer, other} not in RELATED
            ]
            assert not others, metric


@pytest.mark.parametrize(
    ("trainer", "metric", "quantity"),
    [
        ("trl", "rewards/format_reward/mean", "component.mean/format_reward"),
        ("trl", "rewards/format_reward", "component.mean/format_reward"),
        ("trl", "rewards/chosen", None),
        ("trl", "completion_length", "length.mean"),
        ("ms_swift", "completions/mean_length", "length.mean"),
        ("verl", "actor/lr(1e-4)", "learning_rate"),
        ("verl", "actor/rollout_corr/k3_kl", "sampler.k3"),
        ("slime", "train/ppo_kl", "old_kl"),
        ("openrlhf", "rollout/reward_mean", "reward"),
        ("openrlhf", "reward", None),
        ("nemo_rl", "Generation KL Error", None),
        ("prime_rl", "Mismatch KL", "sampler.k3"),
        ("minimind", "KL_ref", "-kl.k1"),
        ("open_instruct", "objective/kl0_avg", "kl.k1"),
        ("open_instruct", "objective/kl2_avg", None),
        ("skyrl", "policy/policy_kl", "kl"),
        ("areal", "ppo_actor/update/approx_kl/avg", "-old_kl"),
        ("areal", "grpo_actor/approx_kl/avg", "-old_kl"),
        ("rlinf", "actor/training/actor/approx_kl", "old_kl"),
        ("rlinf", "train/actor/approx_kl", "old_kl"),
        ("rlinf", "train/actor/total_loss", None),
        ("verl", "actor/lr", "learning_rate"),
        ("roll", "actor/policykl@sum", "-old_kl"),
        ("roll", "actor/kl_loss@sum", None),
        ("roll", "tokens/response_length/max", "length.max"),
        ("roll", "token/response_length/max", "length.max"),
        ("tinker", "env/all/by_group/frac_mixed", "1-dead_share"),
        ("tinker", "optim/kl_sample_train_v2", None),
    ],
)
def test_a_metric_is_looked_up(trainer, metric, quantity):
    assert trainers()[trainer].quantity(metric) == quantity


def test_the_trainer_is_found_from_the_names():
    assert trainer_of(["loss", "reward_std", "completions/mean_length"]) == "trl"
    assert trainer_of(["reward_std", "memory(GiB)", "completions/mean_length", "entropy/mean"]) == "ms_swift"
    assert (
        trainer_of(["reward_std", "frac_reward_zero_std", "completions/mean_length", "memory(GiB)"])
        == "ms_swift"
    )
    assert trainer_of(["actor/pg_loss", "critic/score/mean"]) == "verl"
    assert trainer_of(["policy_loss", "actor_lr", "kl"]) == "openrlhf"
    assert trainer_of(["Loss", "Avg Reward"]) == "nemo_rl"
    assert trainer_of(["Reward", "Seq. Length", "Max. Off-Policy Level"]) == "prime_rl"
    assert trainer_of(["Reward", "KL_ref", "Adv Std", "Actor Loss", "Learning Rate"]) == "minimind"
    assert trainer_of(["policy_loss", "reward", "kl_ref"]) == "minimind"
    assert trainer_of(["scores", "loss/policy_avg", "val/stop_rate"]) == "open_instruct"
    assert trainer_of(["reward/avg_raw_reward", "policy/final_loss"]) == "skyrl"
    assert trainer_of(["ppo_actor/task_reward/avg", "timeperf/rollout"]) == "areal"
    assert trainer_of(["train/actor/policy_loss", "rollout/rewards", "env/reward"]) == "rlinf"
    assert trainer_of(["progress/done_frac", "optim/lr", "reward/total"]) == "tinker"
    roll = ["actor/pg_loss@sum", "actor/approxkl@sum", "critic/score/mean", "critic/advantages/mean"]
    assert trainer_of([*roll, "actor/policykl@sum", "token/response_length/mean"]) == "roll"
    assert trainer_of(["loss"]) == ""


@pytest.mark.parametrize(
    ("trainer", "metrics", "releases"),
    [
        ("trl", ["completion_length", "rewards/f", "reward_std"], "0.16 or earlier"),
        ("trl", ["completions/mean_length", "sampling/importance_sampling_ratio/mean"], "0.23 or later"),
        ("trl", ["completion_length", "rewards/f/mean"], ""),  # a fork that logs both
        ("trl", ["reward_std"], ""),
        ("ms_swift", ["completions/mean_length"], ""),
        ("verl", ["actor/pg_loss", "mismatch/mismatch_kl"], "0.6.0"),
        ("verl", ["response_length_non_aborted/mean", "rollout_corr/kl"], "0.6.1 or later"),
        ("", ["reward"], ""),
    ],
)
def test_the_releases_are_found_from_the_names(trainer, metrics, releases):
    assert releases_of(trainer, metrics) == releases


def test_rows_of_evaluation_of_fine_tuning_and_the_summary_are_left_out():
    log = log_of(
        [
            {"step": 1, "reward": 0.5, "reward_std": 0.1},
            {"step": 1, "eval_reward": 0.25, "eval_loss": 0.1},
            {"step": 2, "train_runtime": 100.0, "train_loss": 0.1},
            {
                "step": 2,
                "loss": 1.7,
                "entropy": 1.4,
                "mean_token_accuracy": 0.66,
            },  # of SFTTrainer, in the same notebook
        ]
    )
    assert [(row.step, dict(row.values)) for row in log.rows] == [(1, {"reward": 0.5, "reward_std": 0.1})]


def test_records_of_a_step_are_joined_and_a_repeated_step_counts_last():
    log = log_of(
        [
            {"step": 1, "train/loss": 0.5},
            {"step": 1, "rollout/raw_reward": 0.1},
            {"step": 1, "train/loss": 0.7},
        ],
        "slime",
    )
    assert dict(log.rows[0].values) == {"loss": 0.7, "score.mean": 0.1}


def test_an_unknown_metric_is_listed_and_not_guessed():
    log = log_of([{"step": 1, "reward": 0.5, "my_kl": 3.0}, {"step": 2, "reward": 0.5, "my_kl": 3.0}], "trl")
    assert dict(log.unknown) == {"my_kl": 2}
    assert "kl" not in log.rows[0].values


def test_a_quantity_is_read_with_its_sign():
    log = log_of([{"ppo_actor/update/approx_kl/avg": -0.25, "ppo_actor/task_reward/avg": 0.5}])
    assert dict(log.rows[0].values) == {"old_kl": 0.25, "score.mean": 0.5}
    log = log_of([{"step": 3, "env/all/by_group/frac_mixed": 0.25, "env/all/reward/total": 0.5}])
    assert dict(log.rows[0].values) == {"dead_share": 0.75, "reward": 0.5}


def test_names_of_verl_with_underscores_are_those_of_verl():
    log = log_of(
        [
            {
                "training_global_step": 7.0,
                "critic_score_mean": 0.5,
                "critic_advantages_mean": 0.1,
                "actor_lr": 1e-6,
                "response_length_non_aborted_mean": 20.0,
                "group_size_mean": 8.0,
            }
        ]
    )
    assert (log.trainer, log.releases, dict(log.unknown)) == ("verl", "0.6 or later", {"group_size_mean": 1})
    assert [(row.step, dict(row.values)) for row in log.rows] == [
        (7, {"score.mean": 0.5, "advantage.mean": 0.1, "learning_rate": 1e-6, "present_length.mean": 20.0})
    ]


def test_a_few_names_with_underscores_do_not_make_a_log_of_verl():
    """OpenRLHF has two of these names, and none of them tells verl."""
    record = {"policy_loss": 0.1, "actor_lr": 1e-6, "actor_grad_norm": 0.5, "actor_loss": 0.1, "kl": 0.0}
    log = log_of([record])
    assert (log.trainer, dict(log.unknown)) == ("openrlhf", {"actor_loss": 1})


def test_the_step_of_roll_and_of_the_tinker_cookbook_is_read():
    roll = {"actor/policykl": 0.25, "actor/ppo_ratio_clipfrac": 0.0, "actor_train/grad_norm": 0.5}
    assert [(row.step, dict(row.values)) for row in log_of([{"system/step": 5.0, **roll}]).rows] == [
        (5, {"old_kl": -0.25, "grad_norm": 0.5})
    ]
    assert log_of([{"progress/batch": 4.0, "reward/mean": 0.5}]).rows[0].step == 4


def test_distillation_of_the_tinker_cookbook_is_left_out():
    with pytest.raises(ValueError, match="no metric of a known trainer"):
        log_of([{"step": 1, "teacher_kl": 4.0, "env/all/reward/total": 0.0, "progress/done_frac": 0.1}])


def test_the_rounding_of_a_console_is_seen():
    printed = {"scores": 0.52, "val/advantages_max": 1.73, "val/stop_rate": 0.9, "lr": 1e-6}
    assert log_of([printed]).rounding == 0.005
    assert log_of([{**printed, "val/advantages_max": 1.7320508}]).rounding == 0.0
    assert log_of([{"reward": 0.5, "reward_std": 0.1}]).rounding == 0.0  # TRL prints all digits


def test_a_log_without_a_known_metric_is_refused():
    with pytest.raises(ValueError, match="no metric of a known trainer"):
        log_of([{"step": 1, "color": 7.0}])


def test_steps_that_occur_again_are_counted():
    rows = [{"step": step, "reward": 0.1 * step, "reward_std": 0.1} for step in (1.0, 2.0, 3.0)]
    assert log_of([*rows, rows[-1]]).replaced == 0  # the same numbers again
    assert log_of([*rows, {"step": 3.0, "kl": 0.5}]).replaced == 0  # the other half of a step
    assert log_of([*rows, rows[1] | {"reward": 0.7}, rows[2] | {"reward": 0.8}]).replaced == 2


LIKE = {"step": 1.0, "reward_std": 0.1, "recall": 0.2, "precision": 0.3, "users": 5.0}


@pytest.mark.parametrize(
    ("record", "trainer", "title"),
    [
        ({"step": 1.0, "reward": 0.5, "reward_std": 0.1}, "trl", "TRL"),
        (LIKE, "", "TRL-like"),  # one of four names
        (LIKE | {"loss": 0.1, "kl": 0.1, "frac_reward_zero_std": 0.0}, "trl", "TRL"),
        ({"actor_lr": 1e-6, "actor_grad_norm": 1.0, "a": 1.0, "b": 2.0, "c": 3.0}, "", "OpenRLHF-like"),
    ],
)
def test_a_few_names_in_common_do_not_make_a_trainer(record, trainer, title):
    log = log_of([record])
    assert (log.trainer, log.title) == (trainer, title)
