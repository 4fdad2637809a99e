"""The slow test files, and the share of their tests that `make test` (`pytest --quick`) runs.

`make test-all` runs every test. Of a file in this table, `make test` keeps every n-th test of each function,
always the first; 0 keeps none. All other files run in full. The numbers come from the measured time of each
file: `make test` takes at most four minutes on two cores.
"""

KEEP_EVERY = {
    # notebooks and tutorials are executed as a whole
    "tests/test_notebooks.py": 0,
    "tests/test_tutorials.py": 0,
    "tests/test_contributing.py": 0,
    # one configuration in many
    "tests/explain/test_convert.py": 12,
    "tests/explain/test_replay.py": 12,
    # claims and their mutants
    "tests/lab/test_claims.py": 10,
    "tests/lab/test_network_claims.py": 10,
    # processes and WebAssembly
    "tests/course/test_sandbox.py": 6,
    "tests/course/test_right_answers.py": 8,
    "tests/course/test_pytest_plugin.py": 6,
    "tests/web/test_command.py": 0,
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
