"""The objective ID of launch files."""

import json
from dataclasses import replace

import numpy as np
import pytest

from grpo_ref import explain
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.explanation import pieces, report
from grpo_ref.explain.gradient_change import gradient
from grpo_ref.explain.launch import Launch, Unknown
from grpo_ref.explain.objective_id import identify, latex_line
from grpo_ref.recipes import DAPO, DR_GRPO, GRPO
from grpo_ref.recipes.identity import canonical, canonical_parts, objective_id


def id_of(*config):
    found = explain(*config).objective_id
    assert found.unknown == []
    return found.id


SAME = {
    "keys in another order": (["trl", "beta=0.04", "epsilon=0.1"], ["trl", "epsilon=0.1", "beta=0.04"]),
    "another spelling of a number": (["trl", "beta=0.04"], ["trl", "beta=4e-2"]),
    "flags": (["trl", "beta=0.04"], ["trl", "--beta", "0.04"]),
    "defaults written out": (["trl"], ["trl", "epsilon=0.2", "loss_type=dapo", "beta=0.0"]),
    "a short key": (
        ["verl", "actor.clip_ratio_high=0.28"],
        ["verl", "actor_rollout_ref.actor.clip_ratio_high=0.28"],
    ),
    "keys without effect": (["trl"], ["trl", "bf16=true", "learning_rate=1e-6"]),
    "the size of the groups": (["trl"], ["trl", "num_generations=16"]),
    "a budget": (["trl", "loss_type=dr_grpo"], ["trl", "loss_type=dr_grpo", "max_completion_length=4096"]),
    "a bound of a loss that is not chosen": (["trl"], ["trl", "sapo_temperature_neg=2.0"]),
    "two trainers": (["trl", "scale_rewards=none"], ["unsloth", "scale_rewards=none"]),
    "two trainers with one code": (["slime"], ["miles"]),
    "two trainers with other defaults": (["trl"], ["ms_swift", "beta=0", "loss_type=dapo"]),
    "two trainers that share no code": (
        ["slime", "disable_grpo_std_normalization=true"],
        ["ms_swift", "beta=0", "scale_rewards=none"],
    ),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_one_objective_has_one_id(one, other):
    assert id_of(*one) == id_of(*other)


def test_a_file_has_the_id_of_its_keys(tmp_path):
    path = tmp_path / "verl.yaml"
    text = "actor_rollout_ref:\n  actor:\n    clip_ratio_high: 0.28\nalgorithm: {adv_estimator: grpo}\n"
    path.write_text(text)
    keys = ["actor.clip_ratio_high=0.28", "algorithm.adv_estimator=grpo"]
    assert id_of("verl", str(path)) == id_of("verl", *keys)


def test_an_id_of_a_paper_is_recognized():
    found = explain("trl", "loss_type=dr_grpo", "scale_rewards=none").objective_id
    assert (found.id, found.recipe) == (objective_id(DR_GRPO), "dr_grpo")
    assert dict(found.parts) == canonical_parts(DR_GRPO)


DIFFERENT = {
    "a bound": ["epsilon_high=0.28"],
    "a weight": ["beta=0.001"],
    "an aggregation": ["loss_type=grpo"],
    "an average over micro-batches": ["loss_type=bnpo"],
    "an advantage": ["scale_rewards=none"],
    "a level": ["importance_sampling_level=sequence"],
    "a filter": ["mask_truncated_completions=true"],
    "a share of the tokens": ["top_entropy_quantile=0.2"],
    "an entropy bonus": ["entropy_coef=0.01"],
    "another entropy bonus": ["entropy_coef=0.02"],
}


def test_every_change_of_the_objective_changes_the_id():
    ids = [id_of("trl"), *(id_of("trl", *keys) for keys in DIFFERENT.values())]
    assert len(set(ids)) == 1 + len(DIFFERENT)


def test_one_id_means_one_gradient():
    """Each choice of every trainer, one key at a time: equal texts have equal gradients."""
    seen = {}
    compared = 0
    for dialect in DIALECTS.values():
        trials = [{}, *({key: choice} for key, choices in dialect.keys.choices.items() for choice in choices)]
        for trial in trials:
            try:
                recipe = dialect.recipe(**trial)
                ours = gradient(recipe)
            except ValueError:  # the trainer refuses this choice without other keys
                continue
            theirs = seen.setdefault(canonical(recipe), ours)
            np.testing.assert_allclose(
                ours, theirs, rtol=1e-12, atol=1e-15, err_msg=f"{dialect.name} {trial}"
            )
            compared += theirs is not ours
    assert len(seen) > 250
    assert compared > 200


def test_micro_batches_count_only_where_they_change_a_weight():
    """TRL divides each micro-batch by its own tokens in "bnpo", and each completion in "grpo"."""
    assert "averages" in explain("trl", "loss_type=bnpo").objective_id.parts
    assert "averages" not in explain("trl", "loss_type=grpo").objective_id.parts
    assert "averages" not in explain("trl", "loss_type=dapo").objective_id.parts


def reasons(trainer, launch):
    found = report(DIALECTS[trainer], launch).objective_id
    assert (found.id, found.latex, found.recipe) == ("", "", "")
    return list(found.unknown)


def test_an_unknown_value_gives_no_id():
    hole = Unknown("$CLIP", "$CLIP is not set in this file")
    launch = Launch("verl", "", {"actor.clip_ratio_high": hole}, is_sure=True)
    assert reasons("verl", launch) == ["the surrogate (actor.clip_ratio_high = $CLIP)"]
    bonus = Launch("verl", "", {"actor.entropy_coeff": Unknown("$H", "not set")}, is_sure=True)
    assert reasons("verl", bonus) == ["the entropy bonus (actor.entropy_coeff = $H)"]


def test_an_unknown_size_of_the_groups_does_not_matter():
    hole = Unknown("$N", "not set")
    launch = Launch("verl", "", {"actor_rollout_ref.rollout.n": hole}, is_sure=True)
    assert report(DIALECTS["verl"], launch).objective_id.id == id_of("verl")


def test_a_missing_file_gives_no_id():
    launch = Launch("verl", "", {"actor.clip_ratio_high": 0.28}, missing=["base.yaml"], is_sure=True)
    said = reasons("verl", launch)
    assert "the advantage (base.yaml not found)" in said
    assert "the surrogate (base.yaml not found)" in said


def test_an_average_that_does_not_follow_from_the_step_gives_no_id():
    found = explain("trl", "steps_per_generation=4").objective_id
    assert found.id == ""
    assert found.unknown[0].startswith("the denominator of the average")


def test_a_version_that_computes_another_objective_gives_no_id():
    """The default of beta was 0.04 in TRL 0.16.0 and is 0 today."""
    old, new = DIALECTS["trl"].at("0.16.0"), DIALECTS["trl"]
    launch = Launch("trl", "", {"epsilon": 0.2}, candidates=[old], is_sure=True)
    found = report(new, launch).objective_id
    assert found.id == ""
    assert found.unknown == [
        f"the version ({old.version} computes another objective; choose one with --version)"
    ]
    assert report(new, replace(launch, candidates=[new])).objective_id.id == id_of("trl")


LINES = {
    "no penalty": (DAPO, r"\mathcal{L} = -\sum W \, s, "),
    "a penalty": (GRPO, r"\mathcal{L} = -\sum W \, (s - 0.04 \, d), "),
}


@pytest.mark.parametrize(("recipe", "start"), LINES.values(), ids=LINES)
def test_the_line_of_latex_begins_with_the_loss(recipe, start):
    line = latex_line(canonical_parts(recipe))
    assert line.startswith(start)
    assert r"s = \texttt{clipped(clip\_high=0.2" in line
    assert "\n" not in line


def test_the_line_of_latex_has_every_part():
    parts = canonical_parts(GRPO) | {
        "corrections": "c(a=1)",
        "penalty_aggregate": "token_mean",
        "entropy_bonus": "0.01",
    }
    line = latex_line(parts)
    assert line.startswith(r"\mathcal{L} = -\sum (W \, c \, s - 0.04 \, V \, d) - 0.01 \, H, \quad A = ")
    assert r"c = \texttt{c(a=1)}" in line
    assert r"V = \texttt{token\_mean}" in line
    assert latex_line(parts | {"kl_coef": "-0.5"}).startswith(
        r"\mathcal{L} = -\sum (W \, c \, s + 0.5 \, V \, d)"
    )
    assert r"\text{keep} = \texttt{mixed\_groups}" in latex_line(canonical_parts(DAPO))


def test_the_report_prints_the_id():
    shown = [piece.text for piece in pieces(explain("trl", "loss_type=dr_grpo", "scale_rewards=none"))]
    place = shown.index("the objective ID")
    assert shown[place + 1] == f"{objective_id(DR_GRPO)}, the same as that of the recipe dr_grpo"
    assert shown[place + 2] == latex_line(canonical_parts(DR_GRPO))
    data = json.loads(json.dumps(explain("trl").data(), default=str))["objective_id"]
    assert data["id"] == id_of("trl")
    assert data["parts"]["surrogate"] == "clipped(clip_high=0.2, clip_low=0.2)"


def test_the_report_says_why_there_is_no_id():
    launch = (
        "python -m verl.trainer.main_ppo algorithm.adv_estimator=grpo"
        " actor_rollout_ref.actor.clip_ratio_high=$CLIP"
    )
    texts = [piece.text for piece in pieces(explain(launch, version="0.7.0"))]
    place = texts.index("the objective ID")
    assert texts[place + 1] == (
        "There is no ID, because this is not known:"
        " the surrogate (actor_rollout_ref.actor.clip_ratio_high = $CLIP)."
    )


def test_a_report_has_its_id():
    told = explain("trl", "beta=0.04")
    assert told.objective_id == identify(DIALECTS["trl"], told.found)
