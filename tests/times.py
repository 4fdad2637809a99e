"""Measure the time and memory of the tests: a pytest plugin, and the page that it fills.

`make test-times` runs every test with `--times build/test-times.json`, and writes tests/TIMES.md from it, and
tests/times.json, by which `sampling` chooses.
The unit is CPU seconds of a test and of all processes that it starts. They change little with the load of
the machine, and the time of a run is about their sum over the number of cores.
"""

import json
import os
import platform
import resource
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from sampling import LEAST, TIMES, function_of

SLOWEST = 30
"""Tests in the table of the slowest ones."""
INTERVAL = 1.0
"""Seconds between two measurements of the memory."""
TICK = os.sysconf("SC_CLK_TCK")
BEGIN = "<!-- times: made by make test-times -->"


class Times:
    """Measures CPU seconds and memory of each test, in the process that runs the test."""

    def __init__(self, config):
        self.config, self.worker = config, hasattr(config, "workerinput")
        self.tests, self.processes, self.running, self.peak = {}, [], set(), (0.0, [])
        self.cpu = self.memory = 0.0
        self.begun, self.over = time.time(), threading.Event()

    def pytest_sessionstart(self):
        if not self.worker:
            threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        """Note the largest memory of all processes of the run, and the tests that ran at that time."""
        while not self.over.wait(INTERVAL):
            memory = sum(map(megabytes, [os.getpid(), *descendants(os.getpid())]))
            if memory > self.peak[0]:
                self.peak = memory, sorted(self.running)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self):
        return (yield from self.phase())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self):
        return (yield from self.phase())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self):
        return (yield from self.phase())

    def phase(self):
        """Measure one of the three parts of a test."""
        cpu, memory = cpu_seconds(), own_peak()
        try:
            return (yield)
        finally:
            self.cpu, self.memory = max(0.0, cpu_seconds() - cpu), own_peak() - memory

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self):
        report = yield
        report.cpu_seconds, report.peak_growth = self.cpu, self.memory  # xdist sends them to the main process
        return report

    def pytest_runtest_logstart(self, nodeid):
        self.running.add(nodeid)

    def pytest_runtest_logfinish(self, nodeid):
        self.running.discard(nodeid)

    def pytest_runtest_logreport(self, report):
        test = self.tests.setdefault(report.nodeid, {"cpu": 0.0, "wall": 0.0, "memory": 0.0})
        test["cpu"] += report.cpu_seconds
        test["wall"] += report.duration
        test["memory"] += report.peak_growth

    def pytest_testnodedown(self, node):
        self.processes.append(node.workeroutput["times"])

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self):
        self.over.set()
        own = {"cpu": cpu_seconds(), "memory": own_peak()}
        if self.worker:
            self.config.workeroutput["times"] = own
            return
        path = Path(self.config.getoption("--times"))
        path.parent.mkdir(parents=True, exist_ok=True)
        wall = time.time() - self.begun
        total = cpu_seconds()  # the workers have ended: they are among this process's children
        record = {
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "machine": machine(),
            "workers": len(self.processes),
            "load": os.getloadavg()[2],
            "wall": wall,
            "cpu": max(total, sum(each["cpu"] for each in self.processes)),
            "peak": {"memory": self.peak[0], "running": self.peak[1]},
            "processes": self.processes or [own],
            "tests": self.tests,
        }
        path.write_text(json.dumps(record, indent=1), encoding="utf-8")


def machine():
    """The processor that the tests ran on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor()


def cpu_seconds():
    """CPU seconds of this process and of all that it has started, those that still run among them."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime + sum(map(cpu_of, descendants(os.getpid())))


def cpu_of(process):
    """CPU seconds of another process and of its children that have ended; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / TICK


def own_peak():
    """The largest memory that this process has had, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def descendants(process):
    """Return the processes that a process has started, directly or not; none where there is no /proc."""
    found = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = [int(each) for each in task.read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *descendants(child)]
    return found


def megabytes(process):
    """Return the memory of a process in MB; 0 if it has ended. Processes divide what they share."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1e3 for line in lines if line.startswith("Pss:")), 0.0)


def folder_of(nodeid):
    """Return the folder of a test, `tests/course`, or `tests/*` for a file of the top folder."""
    path = nodeid.partition("::")[0]
    parts = path.split("/")
    if parts[0] in ("tests", "grpo_ref", "docs") and len(parts) > 2:
        return "/".join(parts[:2])
    return f"{parts[0]}/*" if len(parts) > 1 else path


def page(record):
    """The page tests/TIMES.md."""
    tests, total = record["tests"], sum(test["cpu"] for test in record["tests"].values())
    by_folder, by_file, by_function, count = Counter(), Counter(), Counter(), Counter()
    for name, test in tests.items():
        folder, file, function = folder_of(name), name.partition("::")[0], function_of(name)
        by_folder[folder] += test["cpu"]
        by_file[file] += test["cpu"]
        by_function[function] += test["cpu"]
        count.update({folder: 1, file: 1, function: 1} if folder != file else {file: 1, function: 1})
    peak = record["peak"]
    growth = sorted(tests, key=lambda name: -tests[name]["memory"])[:10]
    lines = [
        "# Where the time of the tests goes",
        "",
        BEGIN,
        "",
        f"`make test-times` renews this page. It was made on {record['date']}, on {record['machine']}, with"
        f" {record['workers']} workers. The run took {record['wall'] / 60:.0f} minutes. The load average of"
        f" the last quarter of an hour was {record['load']:.1f}.",
        "",
        f"{len(tests)} tests took {total:.0f} CPU seconds, with the processes that they start. With imports"
        f" and collection in each worker the run took {record['cpu']:.0f} CPU seconds. On two quiet cores"
        f" that is about {record['cpu'] / 120:.0f} minutes.",
        "",
        f"All processes together had at most {peak['memory']:.0f} MB, while these tests ran: "
        + (", ".join(f"`{name}`" for name in peak["running"]) or "none")
        + ".",
        "",
        "## By folder",
        "",
        *rows(("folder", "tests", "CPU seconds", "share"), by_folder.most_common(), count, total),
        "",
        f"## The {SLOWEST} slowest files",
        "",
        *rows(("file", "tests", "CPU seconds", "share"), by_file.most_common(SLOWEST), count, total),
        "",
        f"## The {SLOWEST} slowest tests",
        "",
        "A test with parameters is one row.",
        "",
        *rows(("test", "cases", "CPU seconds", "share"), by_function.most_common(SLOWEST), count, total),
        "",
        "## Memory",
        "",
        "Tests that raised the largest memory of their process the most:",
        "",
        "| test | MB more |",
        "| --- | --- |",
        *(f"| `{name}` | {tests[name]['memory']:.0f} |" for name in growth),
    ]
    return "\n".join(lines) + "\n"


def slow_functions(record):
    """Return the CPU seconds of each slow test function, by name."""
    total = Counter()
    for name, test in record["tests"].items():
        total[function_of(name)] += test["cpu"]
    return {name: round(total[name], 1) for name in sorted(total) if total[name] >= LEAST}


def rows(heads, entries, count, total):
    """A table of names with their number of tests, CPU seconds and share."""
    yield "| " + " | ".join(heads) + " |"
    yield "| --- | --- | --- | --- |"
    for name, seconds in entries:
        yield f"| `{name}` | {count[name]} | {seconds:.1f} | {100 * seconds / total:.1f} % |"


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    measured = json.loads(source.read_text(encoding="utf-8"))
    target.write_text(page(measured), encoding="utf-8")
    TIMES.write_text(json.dumps(slow_functions(measured), indent=0) + "\n", encoding="utf-8")
