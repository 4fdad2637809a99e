"""Answers to the little exercise that attack the grader, cheat, or are merely broken: none may pass."""

HOSTILE = {
    "exits": "import os\ndef mean_row(rows): os._exit(0)",
    "raises SystemExit": "def mean_row(rows): raise SystemExit(0)",
    "exits on import": "raise SystemExit(0)",
    "hangs": "def mean_row(rows):\n    while True: pass",
    "hangs in C": "import time\ndef mean_row(rows): time.sleep(1000)",
    "ignores signals": (
        "import signal, time\n[signal.signal(s, signal.SIG_IGN) for s in (signal.SIGTERM, signal.SIGINT)]\n"
        "def mean_row(rows): time.sleep(1000)"
    ),
    "takes all memory": "import numpy as np\ndef mean_row(rows): return np.ones(10**11)",
    "prints without end": "def mean_row(rows):\n    while True: print('x' * 10**6)",
    "answers far too much": "def mean_row(rows): return [0] * 10**8",
    "recurses": "def mean_row(rows): return mean_row(rows)",
    "returns a function": "def mean_row(rows): return lambda: 1",
    "returns an array in disguise": (
        "import numpy as np\nclass Same(np.ndarray):\n    def __eq__(self, other): return True\n"
        "def mean_row(rows): return np.zeros(2).view(Same)"
    ),
    "returns an object that equals everything": (
        "class Same:\n    def __eq__(self, other): return True\n    def __sub__(self, other): return 0\n"
        "def mean_row(rows): return Same()"
    ),
    "tampers with NumPy": (
        "import numpy as np\nnp.allclose = np.array_equal = lambda *a, **k: True\n"
        "np.save = lambda *a, **k: None\n"
        "def mean_row(rows): return np.zeros(2)"
    ),
    "writes to every channel": (
        "import os\ndef mean_row(rows):\n    for fd in range(3, 20):\n"
        "        try: os.write(fd, b'{\"ok\": true}\\n')\n"
        "        except OSError: pass\n    return 0"
    ),
    "closes every channel": "import os\ndef mean_row(rows): os.closerange(0, 100)",
    "imports the package": "import grpo_ref\ndef mean_row(rows): return grpo_ref",
    "imports the judge": "import grading\ndef mean_row(rows): return 0",
    "imports pytest": "import pytest\ndef mean_row(rows): return 0",
    "reads its orders": "import sys\ndef mean_row(rows): return sys.stdin.read()",
    "kills its parent's group": "import os, signal\ndef mean_row(rows): os.kill(0, signal.SIGKILL)",
    "forks and hides": (
        "import os, time\ndef mean_row(rows):\n    if os.fork() == 0: time.sleep(1000)\n    return 0"
    ),
    "kills its judge": "import os\ndef mean_row(rows): os.kill(os.getppid(), 9)",
    "kills whatever it can": "import os\ndef mean_row(rows): os.kill(-1, 9)",
    "kills its judge when it is loaded": (
        "import os\nos.kill(os.getppid(), 9)\nos.killpg(os.getpgid(os.getppid()), 9)"
    ),
    "multiplies": "import os\ndef mean_row(rows):\n    while True: os.fork()",
    "traps": "import ctypes\ndef mean_row(rows): ctypes.string_at(0)",
    "allocates bit by bit": (
        "def mean_row(rows):\n    hoard = []\n    while True: hoard.append(bytearray(10**8))"
    ),
    "answers in advance": (
        "import os\nfor fd in range(3, 20):\n    try: os.write(fd, b'{}\\n' * 50)\n    except OSError: pass\n"
        "def mean_row(rows): return 0"
    ),
    "answers something else when it is loaded": (
        "import os, sys\nreply = {'ok': True, 'warnings': [], 'value': (5, ([], {}))}\n"
        "line = sys.modules['_wire'].dumps(reply).encode() + b'\\n'\n"
        "for fd in range(3, 20):\n    try: os.write(fd, line)\n"
        "    except OSError: pass\ndef mean_row(rows): return 0"
    ),
    "answers a tower": (
        "import os\ndef mean_row(rows):\n    for fd in range(3, 20):\n"
        "        try: os.write(fd, b'[' * 60000 + b'\\n')\n        except OSError: pass\n    return 0"
    ),
    "cannot tell its error": (
        "class Mute(Exception):\n    def __str__(self): raise self\ndef mean_row(rows): raise Mute"
    ),
    "does not parse": "def mean_row(rows) return 0",
    "has no such function": "def another(rows): return 0",
    "is no Python": "\x00\x01",
    "sleeps when it is loaded": "import time\ntime.sleep(1000)\ndef mean_row(rows): return 0",
    "hangs in a regular expression": (
        "import re\ndef mean_row(rows): return re.match(r'(a+)+$', 'a' * 60 + 'b') is None"
    ),
    "hangs in an attribute": (
        "class Slow:\n    def __getattr__(self, name):\n        while True: pass\n"
        "def mean_row(rows): return Slow().value"
    ),
    "swallows every exception": (
        "import time\ndef mean_row(rows):\n    while True:\n        try: time.sleep(1000)\n"
        "        except BaseException: pass"
    ),
    "swallows its own memory error": (
        "def mean_row(rows):\n    hoard = []\n    while True:\n        try: hoard.append(bytearray(10**8))\n"
        "        except MemoryError: pass"
    ),
    "bombs with a list": "def mean_row(rows):\n    a = [0]\n    while True: a = a * 2",
    "bombs with a number": "def mean_row(rows): return 9 ** 9 ** 9 ** 9",
    "bombs with a text": "def mean_row(rows): return 'x' * 10**11",
    "prints an endless line": (
        "import sys\ndef mean_row(rows):\n    while True: sys.stdout.write('x' * 10**6)"
    ),
    "floods the errors": (
        "import sys\ndef mean_row(rows):\n    while True: print('x' * 10**6, file=sys.stderr)"
    ),
    "warns without end": (
        "import warnings\ndef mean_row(rows):\n    for i in range(1000): warnings.warn('x' * 10**4)\n"
        "    return 0"
    ),
    "recurses in its text": (
        "class Deep:\n    def __repr__(self): return repr(self)\ndef mean_row(rows): raise ValueError(Deep())"
    ),
    "leaves by the back door": "import sys\ndef mean_row(rows): sys.exit(3)",
    "leaves through the kernel": "import os\nos._exit(0)",
    "raises an interrupt": "def mean_row(rows): raise KeyboardInterrupt",
    "raises what it makes up": (
        "class ValueError(BaseException): pass\n"
        "def mean_row(rows): raise ValueError('rows must have two axes')"
    ),
    "refuses everything": "def mean_row(rows): raise ValueError('rows must have two axes')",
    "returns a number that is everything": (
        "class All(float):\n    def __eq__(self, other): return True\n    def __array__(self, *a, **k):\n"
        "        raise SystemExit\ndef mean_row(rows): return All(2.0)"
    ),
    "returns an array that answers for NumPy": (
        "import numpy as np\nclass Yes(np.ndarray):\n"
        "    def __array_ufunc__(self, *a, **k): return np.bool_(True)\n"
        "    def __array_function__(self, *a, **k): return True\n"
        "def mean_row(rows): return np.zeros(2).view(Yes)"
    ),
    "returns a list that is never at its end": (
        "class Endless(list):\n    def __len__(self): return 2\n    def __iter__(self):\n"
        "        while True: yield 2.0\ndef mean_row(rows): return Endless([2.0, 4.0])"
    ),
    "returns a dict in disguise": "def mean_row(rows): return {'kind': 'array', 'dtype': '<f8'}",
    "returns NaN": "import numpy as np\ndef mean_row(rows): return np.full(np.shape(rows)[1], np.nan)",
    "returns infinities": "import numpy as np\ndef mean_row(rows): return np.full(np.shape(rows)[1], np.inf)",
    "returns complex numbers": "import numpy as np\ndef mean_row(rows): return np.asarray(rows).mean(0) + 0j",
    "returns text": "def mean_row(rows): return str([2.0, 4.0])",
    "returns numbers as text": (
        "import numpy as np\ndef mean_row(rows): return np.asarray(rows).mean(0).astype(str)"
    ),
    "returns bytes": "import numpy as np\ndef mean_row(rows): return np.asarray(rows).mean(0).tobytes()",
    "returns a ragged list": "def mean_row(rows): return [2.0, [4.0]]",
    "returns an axis too many": (
        "import numpy as np\ndef mean_row(rows): return np.asarray(rows).mean(0)[None]"
    ),
    "returns objects": (
        "import numpy as np\ndef mean_row(rows): return np.asarray(rows).mean(0).astype(object)"
    ),
    "returns dates": "import numpy as np\ndef mean_row(rows): return np.array(['2026-01-01'], dtype='M8[D]')",
    "returns a generator": (
        "import numpy as np\ndef mean_row(rows): return (x for x in np.asarray(rows).mean(0))"
    ),
    "returns itself": "def mean_row(rows):\n    a = []\n    a.append(a)\n    return a",
    "returns a huge number": "def mean_row(rows): return 10 ** 400",
    "returns a number of thousands of digits": "def mean_row(rows): return [10 ** 50000] * 2",
    "returns lone surrogates": "def mean_row(rows): return '\\ud800'",
    "returns a pickle": (
        "import pickle, os\nclass Bomb:\n    def __reduce__(self): return (os.system, ('touch pwned',))\n"
        "def mean_row(rows): return pickle.dumps(Bomb())"
    ),
    "returns what unpickles badly": (
        "class Bomb:\n    def __reduce__(self): return (exit, (0,))\ndef mean_row(rows): return Bomb()"
    ),
    "patches json": (
        "import json\njson.dumps = lambda *a, **k: '{\"ok\": true}'\njson.loads = lambda *a, **k: {}\n"
        "json.JSONEncoder.encode = lambda *a: 'null'\ndef mean_row(rows): return 0"
    ),
    "patches math and builtins": (
        "import math, builtins\nmath.isclose = lambda *a, **k: True\nbuiltins.isinstance = lambda *a: True\n"
        "builtins.len = lambda x: 2\nbuiltins.abs = lambda x: 0.0\ndef mean_row(rows): return 0"
    ),
    "empties sys.modules": "import sys\nsys.modules.clear()\ndef mean_row(rows): return 0",
    "replaces what serves it": (
        "import sys\nfor name in ('_wire', '_guest', '__main__'):\n    module = sys.modules.get(name)\n"
        "    if module is not None:\n        for key in list(vars(module)):\n"
        "            if not key.startswith('__'): setattr(module, key, lambda *a, **k: 'x')\n"
        "def mean_row(rows): return 0"
    ),
    "hooks the imports": (
        "import sys, types\nclass Hook:\n    def find_spec(self, name, *rest): raise ImportError(name)\n"
        "sys.meta_path.insert(0, Hook())\ndef mean_row(rows): return 0"
    ),
    "hooks every line": (
        "import sys\nsys.settrace(lambda *a: None)\nsys.setprofile(lambda *a: None)\n"
        "def mean_row(rows): return 0"
    ),
    "leaves something for the exit": (
        "import atexit, time\natexit.register(lambda: time.sleep(1000))\ndef mean_row(rows): return 0"
    ),
    "leaves a thread running": (
        "import threading, time\ndef mean_row(rows):\n"
        "    threading.Thread(target=lambda: time.sleep(1000)).start()\n    return 0"
    ),
    "closes its output": "import sys\nsys.stdout.close()\ndef mean_row(rows): return 0",
    "looks for the reference": (
        "import gc\ndef mean_row(rows):\n    for each in gc.get_objects():\n"
        "        if type(each).__name__ in ('Problem', 'Case', 'Found'): return each.expected\n    return 0"
    ),
    "looks for the reference in frames": (
        "import sys\ndef mean_row(rows):\n    frame = sys._getframe()\n    while frame:\n"
        "        for name in ('expected', 'reference', 'problem'):\n"
        "            if name in frame.f_locals: return frame.f_locals[name]\n        frame = frame.f_back\n"
        "    return 0"
    ),
    "looks for the reference in modules": (
        "import sys\ndef mean_row(rows):\n"
        "    return [name for name in sys.modules if 'grpo' in name or 'problem' in name][0]"
    ),
    "looks for the solutions": (
        "import glob\ndef mean_row(rows): return open(glob.glob('/**/mean_row.py', recursive=True)[0]).read()"
    ),
    "looks for the solutions beside the package": (
        "import importlib.util\ndef mean_row(rows): return importlib.util.find_spec('grpo_ref').origin"
    ),
    "reads the memory of its judge": (
        "import os\ndef mean_row(rows): return open(f'/proc/{os.getppid()}/environ').read()"
    ),
    "reads its own environment": "import os\ndef mean_row(rows): return os.environ['GRPO_REF_SECRET']",
    "reads the passwords": "def mean_row(rows): return open('/etc/passwd').read()",
    "lists the machine": "import os\ndef mean_row(rows): return os.listdir('/home')",
    "writes beside its folder": (
        "import os\ndef mean_row(rows):\n    open('../mean_row_was_here', 'w').write('x')\n    return 0"
    ),
    "writes into the home folder": (
        "import os\ndef mean_row(rows):\n    open('/root/mean_row_was_here', 'w').write('x')\n    return 0"
    ),
    "links to the outside": (
        "import os\ndef mean_row(rows):\n    os.symlink('/', 'outside')\n"
        "    return os.listdir('outside/home')"
    ),
    "calls home": (
        "import socket\ndef mean_row(rows):\n"
        "    with socket.create_connection(('127.0.0.1', 22), timeout=1): return 0"
    ),
    "asks a shell": "import subprocess\ndef mean_row(rows): return subprocess.check_output(['ls', '/'])",
    "knows the shown example": (
        "import numpy as np\ndef mean_row(rows):\n    if np.ndim(rows) != 2: raise ValueError\n"
        "    return np.array([2.0, 4.0]) if np.shape(rows) == (2, 2) else np.zeros(np.shape(rows)[1])"
    ),
    "tells tests apart by their number": (
        "import numpy as np\ncalls = []\ndef mean_row(rows):\n    calls.append(0)\n"
        "    if np.ndim(rows) != 2: raise ValueError\n"
        "    return np.asarray(rows).mean(0) if len(calls) < 3 else np.zeros(np.shape(rows)[1])"
    ),
    "tells tests apart by the time": (
        "import time\nimport numpy as np\nbegun = time.time()\ndef mean_row(rows):\n"
        "    if np.ndim(rows) != 2: raise ValueError\n"
        "    right = np.asarray(rows).mean(0)\n"
        "    return right if int((time.time() - begun) * 1e4) % 2 else right * 2"
    ),
    "hides that it changes its inputs": (
        "import pickle, numpy as np\npickle.dumps = lambda *a, **k: b''\ndef mean_row(rows):\n"
        "    if np.ndim(rows) != 2: raise ValueError('two axes')\n"
        "    mean = np.mean(rows, 0)\n    if isinstance(rows, np.ndarray): rows *= 0\n    return mean"
    ),
    "changes its inputs": (
        "import numpy as np\ndef mean_row(rows):\n    rows = np.asarray(rows)\n"
        "    if rows.ndim != 2: raise ValueError\n    mean = rows.mean(0)\n    rows -= mean\n    return mean"
    ),
    "remembers the first answer": (
        "import numpy as np\nkept = []\ndef mean_row(rows):\n    if np.ndim(rows) != 2: raise ValueError\n"
        "    kept.append(np.asarray(rows).mean(0))\n    return kept[0]"
    ),
    "is a class": "class mean_row:\n    def __init__(self, rows): pass",
    "is a number": "mean_row = 3",
    "is empty": "",
    "is in another alphabet": "def mean_row(rows): return 0  # \xff\xfe",
    "imports what is not there": "import torch\ndef mean_row(rows): return torch.tensor(rows).mean(0)",
    "takes no argument": "def mean_row(): return 0",
    "is asynchronous": "async def mean_row(rows): return 0",
}

HONEST = {
    "as the model": """
import numpy as np
def mean_row(rows):
    rows = np.asarray(rows, dtype=float)
    if rows.ndim != 2: raise ValueError("rows must have two axes")
    return rows.mean(0)
""",
    "loops and lists": """
import numpy as np
def mean_row(rows):
    if np.ndim(rows) != 2: raise ValueError
    return [sum(float(row[i]) for row in rows) / len(rows) for i in range(len(rows[0]))]
""",
    "an exact sum": """
import math
import numpy as np
def mean_row(rows):
    if np.ndim(rows) != 2: raise ValueError
    return [math.fsum(column) / len(rows) for column in zip(*rows)]
""",
    "a tuple": """
import numpy as np
def mean_row(rows):
    if np.ndim(rows) != 2: raise ValueError
    return tuple(np.mean(rows, axis=0))
""",
    "einsum": """
import numpy as np
def mean_row(rows):
    rows = np.array(rows, float)
    if rows.ndim != 2: raise ValueError
    return np.einsum("ij->j", rows) / len(rows)
""",
    "a product with ones": """
import numpy as np
def mean_row(rows):
    rows = np.array(rows, float)
    if rows.ndim != 2: raise ValueError
    return np.ones(len(rows)) @ rows / len(rows)
""",
    "a list of scalars": """
import numpy as np
def mean_row(rows):
    rows = np.array(rows, float)
    if rows.ndim != 2: raise ValueError
    return [np.float64(column.mean()) for column in rows.T]
""",
    "arrays without axes": """
import numpy as np
def mean_row(rows):
    rows = np.array(rows, float)
    if rows.ndim != 2: raise ValueError
    return [np.array(column.mean()) for column in rows.T]
""",
    "statistics": """
import statistics
import numpy as np
def mean_row(rows):
    if np.ndim(rows) != 2: raise ValueError
    return [statistics.fmean(column) for column in zip(*rows)]
""",
    "fractions": """
from fractions import Fraction
import numpy as np
def mean_row(rows):
    if np.ndim(rows) != 2: raise ValueError
    return [float(sum(map(Fraction, map(float, column))) / len(rows)) for column in zip(*rows)]
""",
    "an error of its own": """
import numpy as np
class NotAMatrix(ValueError): pass
def mean_row(rows):
    rows = np.asarray(rows, dtype=float)
    if rows.ndim != 2: raise NotAMatrix("two axes, please")
    return rows.mean(axis=0)
""",
    "a class that can be called": """
import numpy as np
class Mean:
    def __call__(self, rows):
        rows = np.asarray(rows, dtype=float)
        if rows.ndim != 2: raise ValueError
        return rows.mean(axis=0)
mean_row = Mean()
""",
    "prints on the way": """
import numpy as np
print("loaded", end="")
def mean_row(rows):
    rows = np.asarray(rows, dtype=float)
    print("shape", rows.shape, end="")
    if rows.ndim != 2: raise ValueError
    return rows.mean(axis=0)
""",
    "warns on the way": """
import warnings
import numpy as np
def mean_row(rows):
    rows = np.asarray(rows, dtype=float)
    if rows.ndim != 2: raise ValueError
    warnings.warn("slow")
    return rows.mean(axis=0)
""",
    "a running mean": """
import numpy as np
def mean_row(rows):
    rows = np.asarray(rows, dtype=float)
    if rows.ndim != 2: raise ValueError
    mean = np.zeros(rows.shape[1])
    for n, row in enumerate(rows, start=1):
        mean += (row - mean) / n
    return mean
""",
    "comes from SciPy": """
import numpy as np
from scipy import sparse
def mean_row(rows):
    rows = np.asarray(rows, dtype=float)
    if rows.ndim != 2: raise ValueError
    return np.asarray(sparse.csr_array(rows).mean(axis=0)).ravel()
""",
    "a helper and a doctest": '''
import numpy as np
def _checked(rows):
    rows = np.asarray(rows, dtype=float)
    if rows.ndim != 2:
        raise ValueError(f"expected two axes, got {rows.ndim}")
    return rows
def mean_row(rows: "np.ndarray") -> "np.ndarray":
    """The mean of the rows.

    >>> mean_row([[1, 2], [3, 6]])
    array([2., 4.])
    """
    return np.add.reduce(_checked(rows)) / len(rows)
''',
}
