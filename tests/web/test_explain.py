"""What the page tells of a configuration: the report of the command, or what is wrong with it."""

import pytest
from click.testing import CliRunner

from grpo_ref.cli import main
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.web.explain import explained, trainers

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


def test_a_slip_passes_on_request():
    report = explained("trl", "epsilonn=0.1 beta=0.04", True)
    told = [each["text"] for each in report["pieces"] if each["kind"] == "note"]
    assert (
        told[0] == "TRL 1.16.0 does not have this key, so its effect is unknown: epsilonn (nearest: epsilon)."
    )
