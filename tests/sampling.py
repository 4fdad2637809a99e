"""The slow test files, and the share of their tests that a run without all tests keeps.

`make test-all` runs every test. `make test` (`pytest --quick`) keeps the first of every n tests, and none of
`WHOLE`. CI (`make test-share`, `pytest --share NUMBER`) keeps another one of every n, and a part of `WHOLE`.
The number comes from the commit, so that later commits run other tests. Files that are not listed run in
full. The numbers come from the measured time of each file.
"""

from collections import Counter

OF_EACH_FUNCTION = {
    # every recipe
    "tests/test_gradients.py": 3,
    "tests/test_identities.py": 4,
    # many configurations, answers and claims of one kind
    "tests/explain/test_conversion.py": 12,
    "tests/parity/test_replay.py": 12,
    "tests/parity/live/test_recorded.py": 12,
    "tests/explain/test_errata.py": 8,
    "tests/conformance/vectors/test_selected.py": 4,
    "tests/check/test_diagnosis.py": 4,
    "tests/check/test_reported.py": 4,
    "tests/commands/test_train.py": 4,
    "tests/diagnose/test_simulated_runs.py": 4,
    "tests/diagnose/test_symptoms.py": 4,
    "tests/site/test_recipe_pages.py": 6,
    "tests/lab/test_claims.py": 12,
    "tests/lab/test_network_claims.py": 12,
    "tests/course/test_right_answers.py": 8,
    "tests/course/test_problems.py": 6,
    "tests/course/test_sandbox.py": 6,
    "tests/course/grading/test_wasm.py": 12,
    "tests/fast/test_many_seeds.py": 4,
    "tests/learning/test_loop.py": 6,
    "tests/learning/test_loop_device.py": 6,
    "tests/learning/policies/test_memory.py": 6,
}
"""Files whose functions have many cases -> n."""
OF_THE_FILE = {
    "tests/test_cli.py": 4,
    "tests/parity/test_parity.py": 4,
    "tests/test_examples.py": 4,
    "tests/test_handout.py": 4,
    "tests/test_teach.py": 4,
    "tests/course/test_pytest_plugin.py": 4,
    "tests/course/test_packages.py": 4,
    "tests/course/attack/test_run.py": 4,
    "tests/course/commands/test_watch.py": 4,
    "tests/course/commands/test_dev.py": 4,
    "tests/course/commands/test_grade_class.py": 4,
}
"""Files of long tests, most of which start processes -> n."""
WHOLE = {
    "tests/test_notebooks.py": 4,
    "tests/test_tutorials.py": 2,
    "tests/test_contributing.py": 2,
    "tests/course/classroom/test_cluster.py": 2,
    "tests/lab/framework/test_cluster.py": 2,
    "tests/web/test_command.py": 2,
    "tests/web/test_judge.py": 4,
}
"""Files of the longest tests, such as notebooks that are executed -> n."""


def kept(items, root, share=None):
    """Return the tests of a share, in their order.

    Args:
      items: all tests.
      root: folder of the project.
      share: number of the share, at least 0; if omitted, the first share without the tests of `WHOLE`.
    """
    paths = [item.path.relative_to(root).as_posix() for item in items]
    names = [getattr(item, "originalname", item.name) for item in items]
    groups = [
        (path, name if path in OF_EACH_FUNCTION else "") for path, name in zip(paths, names, strict=True)
    ]
    sizes, seen, chosen = Counter(groups), Counter(), []
    for item, path, group in zip(items, paths, groups, strict=True):
        every = (OF_EACH_FUNCTION | OF_THE_FILE | WHOLE).get(path, 1)
        first = (share or 0) % min(every, sizes[group])  # at least one test of each group
        if seen[group] % every == first and not (share is None and path in WHOLE):
            chosen.append(item)
        seen[group] += 1
    return chosen
