"""Say which argument an answer changes, and when."""

from collections.abc import Sequence

import numpy as np

from grpo_ref.arrays import Bools
from grpo_ref.course.grading.symptoms.calls import Judged
from grpo_ref.course.grading.symptoms.features import FORMS, of_call
from grpo_ref.course.grading.symptoms.rules import rule_for
from grpo_ref.course.grading.symptoms.samples import columns_of

MOSTLY = 0.8
"""The form of an argument is the whole condition if at least this fraction of such calls change it."""


def changes(judged: Sequence[Judged]) -> str:
    """Return a sentence for each argument that the answer changes; "" if there is none.

    Args:
      judged: calls of which it is known whether they changed an argument.
    """
    returned = [each for each in judged if not each.call.raised]
    names = dict.fromkeys(name for each in returned for name in each.changed)
    conditions: dict[str, list[str]] = {}
    for name in names:
        hit = np.array([name in each.changed for each in returned])
        conditions.setdefault(_when(name, returned, hit), []).append(f"`{name}`")
    return " ".join(
        f"Your function changes its argument{'s' * (len(its) > 1)} {' and '.join(its)} {when}."
        for when, its in conditions.items()
    )


def _when(name: str, judged: Sequence[Judged], hit: Bools) -> str:
    """Return when the argument is changed, with the numbers of calls."""
    if hit.all():
        return f"in all {len(hit)} calls that were tried"
    columns = columns_of([of_call(each.given) for each in judged])
    forms = {noun: columns[noun] for each in FORMS if (noun := each.format(x=name)) in columns}
    fitting = [noun for noun, column in forms.items() if column[hit].all() and not column.all()]
    best = min(fitting, key=lambda noun: int(forms[noun].sum()), default="")
    if best and hit.sum() >= MOSTLY * forms[best].sum():
        return _counted(best, int(hit.sum()), int(forms[best].sum()), len(hit))
    rule = rule_for(columns, hit, int(hit.sum()))
    if rule is not None and rule.is_known:
        holds = rule.holds(columns)
        return _counted(rule.text, int(hit.sum()), int(holds.sum()), len(hit))
    if best:
        return _counted(best, int(hit.sum()), int(forms[best].sum()), len(hit))
    return f"in {hit.sum()} of the {len(hit)} calls that were tried"


def _counted(clause: str, changed: int, covered: int, tried: int) -> str:
    such = f"all {covered}" if changed == covered else f"{changed} of {covered}"
    others = f"in none of the {tried - covered} other calls"
    return f"only if {clause}: in {such} such calls that were tried, and {others}"
