"""What the page tells of a configuration: the report of the command, or what is wrong with it."""

import pytest
from click.testing import CliRunner

from grpo_ref.cli import main
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.explanation import Piece
from grpo_ref.web.explain import _typeset, explained, trainers

TEXTS = {
    "pairs": "loss_type=dr_grpo beta=0.04",
    "pairs in lines, as in a script": "loss_type=dr_grpo \\\n  beta=0.04 \\\n",
    "YAML": "# of ours\nloss_type: dr_grpo\nbeta: 4e-2\n",
    "JSON": '{"loss_type": "dr_grpo",\n\t"beta": 0.04}',
}


def words(text):
    """Without columns, in which the command writes names and values."""
    return text.split()


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_report_is_that_of_the_command(text):
    command = CliRunner().invoke(main, ["explain", "trl", "loss_type=dr_grpo", "beta=0.04"])
    report = explained("trl", text, False)
    assert words(" ".join(f"{each['name']} {each['text']}" for each in report["pieces"])) == words(
        command.output
    )
    traps = [each["text"] for each in report["pieces"] if each["kind"] == "trap"]
    assert traps[0].startswith("! Dr. GRPO that still divides by the std; on a typical batch")
    assert report["warnings"] == "2 warnings"


def test_a_shell_script_is_read():
    report = explained(
        "trl", "B=0.04\nif true; then L=dr_grpo; fi\ntrl grpo \\\n  --loss_type $L --beta $B\n", False
    )
    traps = [each["text"] for each in report["pieces"] if each["kind"] == "trap"]
    named = "! Dr. GRPO that still divides by the std (does not apply to TRL 0.22.0 to 0.22.1); on a typical"
    assert traps[0].startswith(named)


@pytest.mark.parametrize("trainer", DIALECTS)
def test_every_trainer_has_defaults(trainer):
    assert explained(trainer, "", False)["pieces"][0]["text"] == f"{trainers()[trainer]} computes"


MISTAKES = {
    "an unknown key": ("epsilonn: 0.1", "trl has no key 'epsilonn' (did you mean 'epsilon'?)"),
    "an unknown value": ("loss_type=x", "loss_type: expected one of 'grpo', "),
    "no configuration": ("It is late.", "no command in it starts a trainer that is known here"),
    "half a configuration": ("beta: [", "no command in it starts a trainer that is known here"),
}


@pytest.mark.parametrize(("text", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_told(text, sentence):
    assert explained("trl", text, False)["error"].startswith(sentence)


def test_a_script_of_another_trainer_is_explained_for_that_trainer():
    script = "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=rloo"
    report = explained("trl", script, False)
    assert (report["trainer"], report["pieces"][0]["text"]) == ("verl", f"{trainers()['verl']} computes")
    assert report == explained("verl", script, False)
    # a typo in a script of the chosen trainer stays an error
    assert explained("verl", f"{script} algorithm.adv_estimatr=rloo", False)["error"].startswith(
        "verl has no"
    )


def test_a_slip_passes_on_request():
    report = explained("trl", "epsilonn=0.1 beta=0.04", True)
    told = [each["text"] for each in report["pieces"] if each["kind"] == "note"]
    assert (
        told[0] == "TRL 1.16.0 does not have this key, so its effect is unknown: epsilonn (nearest: epsilon)."
    )


def links(trainer, text):
    """Return all links of a report by their text."""
    pieces = explained(trainer, text, True)["pieces"]
    return {linked: address for each in pieces for linked, address in each["links"]}


def test_traps_keys_and_recipes_link_to_their_pages():
    place = next(at for at, trap in enumerate(DIALECTS["trl"].traps) if trap.name.startswith("Dr. GRPO that"))
    found = links("trl", "loss_type=dr_grpo beta=0.04")
    assert found["Dr. GRPO that still divides by the std"] == f"trainers/trl.html#trap-trl-{place}"
    assert found["loss_type"] == "trainers/trl.html#key-loss_type"
    assert found["'dr_grpo'"] == "recipe/dr_grpo.html"
    assert found["DAPO"] == "recipe/dapo.html"
    assert found["GRPO"] == "recipe/grpo.html"


def test_another_name_of_a_key_leads_to_the_row_of_the_key():
    named = "actor_rollout_ref.actor.policy_loss.loss_mode"
    assert links("verl", f"{named}=gspo")[named] == "trainers/verl.html#key-loss_mode"


def test_a_trap_of_another_release_has_its_link_too():
    found = links("trl", "B=0.04\ntrl grpo --loss_type dr_grpo --beta $B\n")
    assert "Dr. GRPO that still divides by the std" in found


def test_each_linked_text_is_in_its_piece_and_each_recipe_is_linked_once():
    pieces = explained("verl", "actor_rollout_ref.actor.policy_loss.loss_mode=gspo", True)["pieces"]
    assert all(text in each["text"] for each in pieces for text, _ in each["links"])
    prose = [each for each in pieces if each["kind"] in ("paragraph", "sentence", "about")]
    addresses = [address for each in prose for _, address in each["links"]]
    assert len(set(addresses)) == len(addresses) > 2


def test_formulas_are_typeset():
    pieces = explained("trl", "beta=0.04", True)["pieces"]
    formulas = [each for each in pieces if each["kind"] in ("formula", "equation")]
    assert len(formulas) > 5
    assert all("<math" in each["html"] for each in formulas)
    assert all(each["html"] == "" for each in pieces if each not in formulas)


def test_a_formula_that_the_grammar_does_not_know_stays_text():
    assert _typeset(Piece("formula", "w = clip(x, ±10)")) == ""
