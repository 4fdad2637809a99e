"""What does a class cost? Synthetic students with the whole course, in WebAssembly: time, memory, kills.

`python tests/benchmarks/grade_class.py [STUDENTS] [--kill SECONDS]`. An answer is a right one in some style
(70 %), a wrong one from the collection (15 %), the untouched starter (5 %), or missing (10 %); every fiftieth
student has one answer that never ends. With --kill, a process that grades is killed every so many seconds.
"""

import argparse
import csv
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import heading

from grpo_ref.course.attack.handwritten import collected
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.layout import file_of
from grpo_ref.course.right_answers import right_answers
from grpo_ref.course.starters import starter_of

ROOT = Path(__file__).parents[2]
PROGRAM = "from grpo_ref.cli import main; main()"
SHARES = {"right": 70, "wrong": 15, "starter": 5, "missing": 10}
HANGING = 50
"""Every so many students one has an answer that never ends."""
EVERY = 1.0
"""Seconds between two looks at the memory."""
PARTS = 10


def main() -> None:
    """Make a class, grade it, and tell what it cost in tenths of the run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("students", type=int, nargs="?", default=40)
    parser.add_argument("--kill", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--jobs", type=int, default=-1)
    options = parser.parse_args()
    heading(f"a class of {options.students}, the whole course in WebAssembly")
    with tempfile.TemporaryDirectory() as folder:
        make_class(Path(folder, "in"), options.students)
        grade(Path(folder), 1, options.jobs, "warm", only=1)  # the sandbox is compiled
        marks = grade(Path(folder), options.students, options.jobs, "out", kill=options.kill)
        told = len({row["student"] for row in marks})
        print(
            f"  {len(marks)} rows, {told} students, {sum(row['official'] == 'yes' for row in marks)} official"
        )


def make_class(folder: Path, students: int) -> None:
    """A folder for each student."""
    chance = random.Random(0)
    answers = {
        name: (list(right_answers(problem).values()), [each.text for each in collected(name)])
        for name, problem in PROBLEMS.items()
    }
    for number in range(students):
        for name, (right, wrong) in answers.items():
            (kind,) = chance.choices(list(SHARES), list(SHARES.values()))
            text = {"starter": starter_of(name), "missing": ""}.get(kind) or chance.choice(
                wrong if kind == "wrong" and wrong else right
            )
            if kind != "missing":
                path = folder / f"student{number:04}" / file_of(name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        if number % HANGING == HANGING - 1:
            hanging = folder / f"student{number:04}" / file_of("kl/k3")
            hanging.parent.mkdir(parents=True, exist_ok=True)
            hanging.write_text("def k3(a, b):\n    while True: pass\n")


def grade(
    folder: Path, students: int, jobs: int, out: str, *, only: int = 0, kill: float = 0.0
) -> list[dict[str, str]]:
    """Grade them, and print time and memory; the table of marks."""
    submissions = folder / "in"
    if only:
        submissions = submissions / "student0000"
    command = [sys.executable, "-c", PROGRAM, "grade-class", str(submissions), "--out", str(folder / out)]
    begun = time.monotonic()
    log = (folder / "log").open("w")
    process = subprocess.Popen([*command, f"--jobs={jobs}"], stdout=log, stderr=log)
    looks, killed = watch(process, folder / out / "students", kill)
    seconds = time.monotonic() - begun
    if process.returncode != 0:
        raise SystemExit((folder / "log").read_text())
    if not only:
        print(f"  {seconds:.0f} s, {seconds / students:.2f} s a student, {killed} processes killed")
        tell(looks, students)
    with (folder / out / "marks.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def watch(
    process: subprocess.Popen[bytes], results: Path, kill: float
) -> tuple[list[tuple[float, int, float]], int]:
    """(seconds, students done, MB of all processes) once a second; how many processes were killed."""
    looks, killed, begun = [], 0, time.monotonic()
    while process.poll() is None:
        time.sleep(EVERY)
        seconds, workers = time.monotonic() - begun, descendants(process.pid)
        done = len(list(results.glob("*.json"))) if results.is_dir() else 0
        looks.append((seconds, done, sum(map(megabytes, [process.pid, *workers]))))
        if kill and done and seconds > kill * (killed + 1):
            graders = [each for each in workers if megabytes(each) > megabytes(process.pid) / 2]
            if graders:
                os.kill(random.choice(graders), signal.SIGKILL)
                killed += 1
    return looks, killed


def descendants(process: int) -> list[int]:
    """The processes that a process has started, and theirs."""
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = [int(each) for each in task.read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *descendants(child)]
    return found


def megabytes(process: int) -> float:
    """The memory of a process in MB; 0 if it has ended. Processes divide what they share."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1e3 for line in lines if line.startswith("Pss:")), 0.0)


def tell(looks: list[tuple[float, int, float]], students: int) -> None:
    """A line for each tenth of the run: growth would show in the time or the memory of the later ones."""
    begun = 0.0
    for part in range(1, PARTS + 1):
        until = next((at for at, done, _ in looks if done >= students * part / PARTS), looks[-1][0])
        most = max((memory for at, _, memory in looks if begun < at <= until), default=0.0)
        print(f"  {part * 100 // PARTS:3} % after {until:6.0f} s, at most {most:5.0f} MB")
        begun = until


if __name__ == "__main__":
    main()
