"""The report of `grpo-ref explain`, piece by piece."""

import json
import re
from dataclasses import replace

import pytest

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.explanation import Piece, as_data, dialect_of, pieces, report
from grpo_ref.explain.latex import document, equation, prose
from grpo_ref.explain.launch import Launch, Unknown

HOLE = Unknown("$CLIP", "$CLIP is not set in this file")


def told(trainer, **config):
    return report(DIALECTS[trainer], Launch(trainer, "", config, is_sure=True))


def found(trainer, **config):
    return list(pieces(told(trainer, **config)))


def test_the_sentence_comes_first_then_the_warnings():
    shown = found("trl", loss_type="dr_grpo", beta=0.04)
    assert [piece.text for piece in shown if piece.kind == "heading"] == [
        "TRL 1.16.0 computes",
        "2 warnings",
        "the run",
        "the formula",
        "the objective ID",
        "part by part",
        "the keys",
    ]
    assert shown[1].kind == "paragraph"
    texts = [piece.text for piece in shown]
    assert any(
        text.startswith("Every average is taken over each micro-batch of each process") for text in texts
    )
    assert Piece("formula", "loss = -Σ W (s(r, A) - β d)") in shown
    assert {piece.name for piece in shown if piece.kind == "formula"} == {
        *("", "surrogate s", "advantage A", "aggregate W", "penalty d"),
    }
    assert Piece("part", "0.04", "kl_coef") in shown
    assert Piece("key", "beta = 0.04: This sets kl_coef = 0.04.") in shown


def test_warnings_come_by_how_much_they_change_the_gradient():
    shown = found("trl", loss_type="dr_grpo")
    first, second = [piece.text for piece in shown if piece.kind == "trap"]
    assert first.startswith(
        "! Dr. GRPO that still divides by the std; on a typical batch this changes the gradient"
    )
    assert second == "! A constant that nobody chose"
    place = [piece.kind for piece in shown].index("trap")
    assert [piece.kind for piece in shown[place : place + 3]] == ["trap", "about", "source"]
    assert shown[place + 2].text.startswith("[TRL ")


def test_without_a_penalty_the_formula_has_none():
    assert Piece("formula", "loss = -Σ W s(r, A)") in found("trl")


def test_what_is_not_known_is_said_at_once():
    shown = found("trl", epsilon=HOLE, my_reward="x", bf16=True)
    notes = [piece.text for piece in shown if piece.kind == "note"]
    assert notes[:2] == [
        "epsilon = $CLIP: $CLIP is not set in this file. So the surrogate may differ from this report.",
        "TRL 1.16.0 does not have this key, so its effect is unknown: my_reward.",
    ]
    assert "1 other key of it does not touch the objective." in notes
    everything = [piece.text for piece in pieces(told("trl", beta=0.0, bf16=True), everything=True)]
    assert "bf16 = True: This key does not touch the objective." in everything


def test_the_sentence_guesses_nothing_that_is_not_known():
    config = {"epsilon": HOLE, "num_generations": Unknown("$G", "it"), "beta": Unknown("$B", "it")}
    sentence = told("trl", entropy_coef=Unknown("$E", "it"), **config).explanation.paragraph
    assert sentence.startswith("surrogate not known (epsilon = $CLIP); ")
    assert "within groups of $G (" in sentence
    assert "; KL penalty not known (beta = $B); entropy bonus not known ($E)." in sentence


def test_numbers_beside_the_parts_are_told_where_they_do_something():
    named = {piece.name: piece.text for piece in found("verl", **{"actor.entropy_coeff": 0.01})}
    assert named["bonus"] == "0.01 times the entropy of the policy is added"
    assert named["kl_coef"] == "0, so the loss has no penalty"
    assert "bonus" not in {piece.name for piece in found("verl")}


def test_where_no_key_that_matters_was_understood_it_fails():
    with pytest.raises(ValueError, match=r"none of its keys that matter is there, but lr, warmup"):
        report(DIALECTS["trl"], Launch("trl", "", {"lr": 1, "warmup": 2}, is_sure=True))
    assert told("trl", output_dir="x").found.without_effect == {"output_dir": "x"}


def test_a_whole_launch_without_the_estimator_is_of_another_family():
    launch = Launch("verl", "", {"actor_rollout_ref.actor.clip_ratio": 0.2}, is_sure=True, is_whole=True)
    with pytest.raises(ValueError, match="it trains PPO with a critic"):
        report(DIALECTS["verl"], launch)


def test_a_version_that_is_not_described_is_told():
    dialect, launch = dialect_of(Launch("areal", "", {}, version="0.1"))
    assert dialect is DIALECTS["areal"]
    assert launch.cautions[0].startswith("AReaL: version '0.1' is not covered")
    assert dialect_of(Launch("trl", "", {}, version="0.18.1"))[0].version == "TRL 0.18.1"


FOUND = "keys that change its objective"


def test_a_key_that_has_gone_out_of_use_tells_the_version():
    dialect, launch = dialect_of(Launch("verl", FOUND, {"actor_rollout_ref.actor.ppo_micro_batch_size": 8}))
    assert dialect.version == "verl 0.2.0.post2"
    assert (
        launch.cautions[0] == "It has keys that later versions do not have, so verl 0.2.0.post2 is explained."
    )


def test_a_fork_may_compute_something_else_and_that_is_said():
    launch = Launch("verl", FOUND, {"algorithm.adv_estimator": "grpo"})
    assert "subtract the KL" in dialect_of(launch)[1].cautions[-1]
    pinned = dialect_of(Launch("verl", FOUND, {}, version="0.9.1", is_whole=True))[1]
    assert pinned.cautions == []


def test_keys_that_no_version_has_together_are_of_a_fork():
    keys = {"actor.ppo_micro_batch_size": 8, "actor.clip_ratio_low": 0.2}
    dialect, launch = dialect_of(Launch("verl", FOUND, keys))
    assert dialect.version == "verl 0.3.1.dev"
    assert launch.cautions[0].startswith("No covered release has all of its keys, so the file is for a fork.")


def test_what_earlier_versions_do_with_the_same_keys_is_told():
    keys = {"num_generations": 8, "scale_rewards": True, "learning_rate": 1e-6}
    dialect, launch = dialect_of(Launch("trl", FOUND, keys))
    assert dialect.version == "TRL 1.16.0"
    assert launch.cautions == [
        "The file does not state a version. Results for older versions that accept the same keys are in"
        " brackets.",
        "With TRL 0.16.0 to 0.21.0, averages are taken over each"
        " micro-batch of"
        " each process, and then over these.",
    ]
    sentence = report(dialect, launch).explanation.paragraph
    assert "; no KL penalty [TRL 0.16.0 to 0.18.2: KL penalty 0.04 (k3)]." in sentence
    swapped = "[TRL 0.22.0 to 0.22.1: advantages centred within groups of 8, not divided by a std]"
    assert swapped in sentence
    assert sentence.count("[") == 2
    asked = report(DIALECTS["trl"].at("0.18"), replace(launch, version="0.18"))
    assert "; KL penalty 0.04 (k3)." in asked.explanation.paragraph
    named, plain = dialect_of(Launch("trl", "", keys))
    assert (named, plain.cautions) == (DIALECTS["trl"], [])


def test_the_sign_of_a_penalty_is_told_however_small_its_weight():
    """TinyZero's keys: n_agent is of January and February 2025, and of both signs."""
    keys = {
        "adv_estimator": "grpo",
        "rollout.n_agent": 5,
        "actor.use_kl_loss": True,
        "actor.kl_loss_coef": 1e-6,
    }
    sentence = report(*dialect_of(Launch("verl", FOUND, keys))).explanation.paragraph
    assert "KL penalty 1e-06 (k3) [verl 0.1.1.dev: KL penalty -1e-06 (k3)]" in sentence


def test_a_bonus_that_only_earlier_versions_have_is_told_of_them_alone():
    """verl's bonus was 0.001 before 0.4, a bad token had no bound, and the first penalty was taken off."""
    keys = {"algorithm.adv_estimator": "grpo", "rollout.n": 5, "actor.use_kl_loss": True}
    sentence = report(*dialect_of(Launch("verl", FOUND, keys))).explanation.paragraph
    assert sentence.startswith(
        "PPO-clip 0.2/0.2 with a dual clip at 3, per token"
        " [verl 0.1.1.dev to 0.3.0.post1: PPO-clip 0.2/0.2 per token];"
    )
    assert sentence.endswith(
        "; KL penalty 0.001 (k3) [verl 0.1.1.dev: KL penalty -0.001 (k3)];"
        " entropy bonus 0.001 with verl 0.1.1.dev to 0.3.1.dev only."
    )


def test_old_flags_tell_the_version_and_over_what_it_averaged():
    dialect, launch = dialect_of(Launch("openrlhf", FOUND, {"advantage_estimator": "rloo", "dual_clip": 3.0}))
    assert dialect.version == "OpenRLHF 0.10.1.post2"
    assert (
        launch.cautions[0]
        == "It has keys that later versions do not have, so OpenRLHF 0.10.1.post2 is explained."
    )
    newer = dialect_of(Launch("openrlhf", FOUND, {"algo.advantage.estimator": "rloo"}))[1].cautions
    assert newer[0] == (
        "With OpenRLHF 0.10.2, averages are taken over each micro-batch of each rank, and then over these."
    )


def test_where_later_versions_refuse_a_file_the_newest_that_takes_it_is_told():
    """The released configuration of NeMo-RL 0.6 names a type of limits where there are none."""
    keys = {"grpo.normalize_rewards": True, "loss_fn.truncated_importance_sampling_type": "tis"}
    dialect, launch = dialect_of(Launch("nemo_rl", FOUND, keys))
    assert dialect.version == "NeMo-RL 0.6"
    assert launch.cautions[0] == "Later versions refuse it, so NeMo-RL 0.6 is explained."


def test_a_file_that_every_version_refuses_is_refused():
    keys = {"grpo.normalize_rewards": True, "grpo.num_generations_per_prompt": 0}
    with pytest.raises(ValueError, match="num_generations_per_prompt: expected at least 1"):
        dialect_of(Launch("nemo_rl", FOUND, keys))


def test_the_data_is_json():
    data = json.loads(json.dumps(as_data(told("trl", loss_type="dr_grpo", epsilon=HOLE))))
    assert data["trainer"] == "trl"
    assert data["warnings"][0]["change"] > 0.5
    assert data["unknown"] == [
        {"key": "epsilon", "text": "$CLIP", "why": "$CLIP is not set in this file", "parts": ["surrogate"]}
    ]


def test_latex_is_balanced_and_escaped():
    text = document(told("trl", loss_type="dr_grpo", beta=0.04))
    assert text.count("{") == text.count("}")
    assert text.count(r"\begin{gather*}") == text.count(r"\end{gather*}") == 5
    assert text.isascii()
    assert prose("50 % of a_b") == r"50 \% of a\_b"
    assert equation("w = a / b") == "\\begin{gather*}\n  w = \\frac{a}{b}\n\\end{gather*}"
    assert equation("¿no formula?").startswith(r"\begin{verbatim}")


def test_what_a_fork_changes_is_told_in_no_part_and_no_warning_rests_on_it():
    keys = {"algorithm.adv_estimator": "raft", "actor.policy_loss": "plusplus", "rollout.n": 4, "actor.n": 6}
    of_a_fork = report(DIALECTS["verl"], Launch("verl", "`-m verl.trainer.main_ppo`", keys, is_sure=True))
    shown = list(pieces(of_a_fork))
    assert Piece("part", "not known (algorithm.adv_estimator = raft)", "advantage") in shown
    assert [piece.text for piece in shown if piece.kind == "trap"] == []
    assert {piece.name for piece in shown if piece.kind == "formula"} == {""}
    sentence = of_a_fork.explanation.paragraph
    assert "surrogate and average not known (actor.policy_loss = plusplus)" in sentence
    alone = Launch("verl", "`-m verl.trainer.main_ppo`", {"algorithm.adv_estimator": "grpo", "actor.n": 6})
    assert "groups of (not known: actor.n = 6)" in report(DIALECTS["verl"], alone).explanation.paragraph


HOLES = {name: Unknown(f"${name}", "it is not set") for name in ("beta", "num_generations", "epsilon")}
NOTHING_LEFT = {
    "only the run knows the numbers": ("trl", HOLES, "is known only when it runs (beta = $beta, num_gen"),
}


@pytest.mark.parametrize(("trainer", "keys", "message"), NOTHING_LEFT.values(), ids=NOTHING_LEFT)
def test_a_file_of_which_nothing_is_left_is_refused(trainer, keys, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        report(DIALECTS[trainer], Launch(trainer, "3 keys that change its objective", keys))


def test_one_number_that_is_known_is_enough():
    keys = HOLES | {"epsilon": 0.3}
    assert report(DIALECTS["trl"], Launch("trl", "3 keys", keys)).found.config == {"epsilon": 0.3}


def test_cautions_of_the_reading_stay():
    launch = Launch("trl", "its keys are in the group grpo", {"beta": 0.1}, cautions=["Its group."])
    assert dialect_of(launch)[1].cautions[0] == "Its group."


def test_a_slip_that_hydra_was_told_to_add_is_told_and_not_refused():
    keys = {"algorithm.adv_estimator": "grpo", "actor.entropy_coef": 0.01}
    launch = Launch("verl", "`-m verl.trainer.main_ppo`", keys, added=frozenset({"actor.entropy_coef"}))
    shown = [piece.text for piece in pieces(report(DIALECTS["verl"], launch))]
    assert any("actor.entropy_coef (nearest: entropy_coeff)" in text for text in shown)
    with pytest.raises(ValueError, match="did you mean 'entropy_coeff'"):
        report(DIALECTS["verl"], Launch("verl", "`-m verl.trainer.main_ppo`", keys))


STOPPED = {"worker.rollout.n": 3, "data.rollout_batch_size": 4, "worker.actor.global_batch_size": 4}


def test_what_stops_a_run_today_and_leaves_the_objective_is_told_of_a_file_with_a_caution():
    """EasyR1 cuts 4 prompts times 3 completions into micro-batches of 16, its default, for experience."""
    dialect, launch = dialect_of(Launch("easy_r1", FOUND, STOPPED))
    shown = report(dialect, launch)
    assert "within groups of 3 " in shown.explanation.paragraph
    stopped = (
        f"{dialect.version} would not run it (micro_batch_size_per_device_for_experience: 12 completions"
    )
    assert shown.launch.cautions[-1].startswith(
        f"{stopped} are not a multiple of 16). Another version or a fork"
    )


@pytest.mark.parametrize(
    ("launch", "lenient"),
    [
        (Launch("easy_r1", FOUND, STOPPED), False),
        (Launch("easy_r1", "", STOPPED, is_sure=True), True),
        (Launch("easy_r1", FOUND, STOPPED, version="b44b311b"), True),
    ],
    ids=["strict", "typed by hand", "of the version that refuses it"],
)
def test_what_stops_a_run_is_refused_where_it_is_what_is_asked(launch, lenient):
    dialect, launch = dialect_of(launch)
    with pytest.raises(ValueError, match="12 completions are not a multiple of 16"):
        report(dialect, launch, lenient=lenient)


def test_what_leaves_no_objective_is_refused_of_a_file_too():
    """A group of one has no spread, whatever version runs it."""
    with pytest.raises(ValueError, match="groups of fewer than 2"):
        report(*dialect_of(Launch("trl", FOUND, {"num_generations": 1})))


GRPO_IN_VERL = {"algorithm.adv_estimator": "grpo"}
SIZES = {
    "not given, and 1 if left out": (
        "verl",
        GRPO_IN_VERL,
        "",
        "groups of (not known: actor_rollout_ref.rollout.n = ?)",
    ),
    "a fork's key": (
        "verl",
        GRPO_IN_VERL | {"env.rollout.n": 8},
        "",
        "groups of (not known: env.rollout.n = 8)",
    ),
    "where verl reads nothing": (
        "verl",
        GRPO_IN_VERL | {"data.n_samples": 4},
        "",
        "groups of (not known: data.n_samples = 4)",
    ),
    "given": ("verl", GRPO_IN_VERL | {"rollout.n": 1, "env.rollout.val_n": 8}, "", "groups of 1 "),
    "not compared": ("verl", {"algorithm.adv_estimator": "reinforce_plus_plus"}, "", "discounted by 1"),
    "not given to a program": ("trl", {"beta": 0.1}, "mine.py", "groups of (not known: num_generations = ?)"),
    "not given to the trainer": ("trl", {"beta": 0.1}, "", "groups of 8 "),
    "one, of another program": (
        "understand_r1_zero",
        {"num_samples": 1},
        "mine.py",
        "advantages not known (num_samples",
    ),
}


@pytest.mark.parametrize(("trainer", "keys", "program", "sentence"), SIZES.values(), ids=SIZES)
def test_a_group_of_which_the_size_is_not_said_is_not_known(trainer, keys, program, sentence):
    launch = Launch(trainer, FOUND, keys, program=program)
    assert sentence in report(DIALECTS[trainer], launch).explanation.paragraph


def test_a_program_of_its_own_is_told_first():
    launch = Launch("trl", FOUND, {"num_generations": 4}, cautions=["Another."], program="mine.py")
    first, second = report(DIALECTS["trl"], launch).launch.cautions
    assert first.startswith("mine.py is a custom script. It may override settings")
    assert second == "Another."


def test_why_the_size_of_a_group_is_not_known_is_told():
    launch = Launch("verl", FOUND, GRPO_IN_VERL)
    (unsure,) = report(DIALECTS["verl"], launch).found.unsure
    assert unsure.value.why == (
        "it is not given, and the default of verl 1dda039b (2026-08-22), 1, would leave nothing to compare"
    )
    (unsure,) = report(DIALECTS["trl"], Launch("trl", FOUND, {"beta": 0.1}, program="mine.py")).found.unsure
    assert unsure.value.why == (
        "it is not given, and mine.py may have a default of its own; that of TRL 1.16.0 is 8"
    )


def test_without_a_file_that_is_named_only_what_the_line_says_is_told():
    keys = {"beta": 0.01, "num_generations": 14}
    launch = Launch("trl", "`trl grpo`", keys, missing=("a.yaml",), is_sure=True)
    explained = report(DIALECTS["trl"], launch)
    assert explained.explanation.paragraph == (
        "surrogate, corrections, advantages, average, entropy bonus and filter of completions not known"
        " (a.yaml not found); KL penalty 0.01 (importance-weighted k3) (unless a.yaml changes it)."
    )
    assert Piece("part", "not known (a.yaml not found)", "surrogate") in pieces(explained)
