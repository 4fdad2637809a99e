"""The slow test files, and the share of their tests that `make test` (`pytest --quick`) runs.

`make test-all` runs every test. Of a file in this table, `make test` keeps every n-th test of each function,
always the first; 0 keeps none. All other files run in full. The numbers come from the measured time of each
file: `make test` takes at most four minutes on two cores.
"""

KEEP_EVERY = {
    # notebooks, tutorials and guides are executed as a whole
    "tests/test_notebooks.py": 0,
    "tests/test_tutorials.py": 0,
    "tests/test_contributing.py": 0,
    "tests/test_handout.py": 4,
    "tests/test_teach.py": 4,
    # many configurations, answers and claims of one kind
    "tests/explain/test_conversion.py": 12,
    "tests/parity/test_replay.py": 12,
    "tests/parity/test_parity.py": 4,
    "tests/parity/live/test_recorded.py": 12,
    "tests/explain/test_errata.py": 4,
    "tests/lab/test_claims.py": 12,
    "tests/lab/test_network_claims.py": 12,
    "tests/course/test_right_answers.py": 8,
    "tests/course/test_problems.py": 4,
    "tests/learning/policies/test_memory.py": 6,
    # processes and WebAssembly
    "tests/course/grading/test_wasm.py": 12,
    "tests/course/test_sandbox.py": 6,
    "tests/course/test_pytest_plugin.py": 8,
    "tests/course/test_packages.py": 4,
    "tests/course/commands/test_watch.py": 6,
    "tests/course/commands/test_grade_class.py": 6,
    "tests/course/classroom/test_cluster.py": 0,
    "tests/lab/framework/test_cluster.py": 0,
    "tests/test_cli.py": 4,
    "tests/web/test_command.py": 0,
    "tests/web/test_judge.py": 0,
}


def kept(items, root):
    """Return the tests that `make test` runs, in their order."""
    seen, chosen = {}, []
    for item in items:
        path = item.path.relative_to(root).as_posix()
        every = KEEP_EVERY.get(path, 1)
        function = (path, getattr(item, "originalname", item.name))
        count = seen[function] = seen.get(function, -1) + 1
        if every and count % every == 0:
            chosen.append(item)
    return chosen
