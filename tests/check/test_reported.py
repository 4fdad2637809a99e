"""Mistakes of public reports are found and named, and right losses in other styles are not refused."""

import pytest
from reported_losses import RIGHT, WRONG

from grpo_ref.check import assert_matches, compare


@pytest.mark.parametrize(("loss", "recipe", "options", "texts"), WRONG.values(), ids=WRONG)
def test_the_mistake_of_a_report_is_named(loss, recipe, options, texts):
    found = compare(loss, recipe, batches=78, **options)
    assert not found.agrees
    assert found.matches
    assert all(text in found.matches[0] for text in texts), found


@pytest.mark.parametrize(("loss", "recipe", "options"), RIGHT.values(), ids=RIGHT)
def test_a_right_loss_in_another_style_is_not_refused(loss, recipe, options):
    assert_matches(loss, recipe, **options)
