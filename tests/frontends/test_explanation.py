"""The report of `grpo-ref explain`, piece by piece."""

from grpo_ref.frontends.explanation import Piece, pieces
from grpo_ref.trainers import DIALECTS, explain


def report(trainer, **config):
    dialect = DIALECTS[trainer]
    return list(pieces(dialect.version, explain(dialect, config)))


def test_a_warning_has_its_text_and_its_source():
    *_, heading, trap, about, source = report("trl", loss_type="grpo", epsilon=0.1)
    assert heading == Piece("heading", "1 warning")
    assert (trap.kind, about.kind, source.kind) == ("trap", "about", "source")
    assert trap.text.startswith("! ")
    assert source.text.startswith("[TRL ")
    assert source.text.endswith("]")


def test_the_parts_come_first_and_the_given_keys_after_them():
    found = report("trl", loss_type="dr_grpo", beta=0.04)
    kinds = [piece.kind for piece in found]
    assert found[0] == Piece("heading", "TRL 1.16.0 computes")
    assert Piece("part", "0.04", "kl_coef") in found
    assert found[kinds.index("key") - 1] == Piece("heading", "the keys")
    assert Piece("key", "beta = 0.04: This sets kl_coef = 0.04.") in found
    assert kinds.index("equation") == kinds.index("part") + 2


def test_without_keys_there_is_no_heading_for_them():
    assert [piece.text for piece in report("openrlhf") if piece.kind == "heading"][1:] == ["1 warning"]


def test_numbers_beside_the_parts_are_told_where_they_do_something():
    told = {piece.name: piece.text for piece in report("verl", **{"actor.entropy_coeff": 0.01})}
    assert told["bonus"] == "0.01 times the entropy of the policy is added"
    assert told["kl_coef"] == "0, so the loss has no penalty"
    assert "bonus" not in {piece.name for piece in report("verl")}
