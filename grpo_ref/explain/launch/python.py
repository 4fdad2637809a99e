"""Read the constants that Python scripts and notebooks pass to a configuration class, without running them."""

import ast
import json
import operator
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from grpo_ref.explain.launch.values import MOST_NODES, Unknown, flat

CONFIG = "GRPOConfig"
CONFIGS = (CONFIG, "GrpoConfig", "DAPOConfig", "LigerFusedLinearGRPOLoss", "rl.train.Config")
"""Endings of the names of configuration classes: TRL's, two of Tunix, Liger's and the Tinker cookbook's."""
BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.Mod: operator.mod,
}
CASTS: Mapping[str, Callable[[Any], Any]] = {"int": int, "float": float, "str": str, "bool": bool}
COPIES = ("copy.copy", "copy.deepcopy")
"""Functions that return a dictionary with the same keys."""
CHANGES = ("update", "pop", "popitem", "clear", "setdefault", "__setitem__")
"""Methods that change a dictionary."""
SETS = re.compile(
    r"(?:%(?:set_)?env\s+(?P<n>\w+)[=\s]|os\.environ\[['\"](?P<m>\w+)['\"]\]\s*=)\s*['\"]?([^'\"]*?)['\"]?\s*$"
)
WRITES = re.compile(r"%%(?:writefile|file)\s+(?:-a\s+)?(\S+)")
BRACED = re.compile(r"(?<!\$)\{(\w+)\}")
"""A Python variable in a line for the shell."""
STARTS = re.compile(r"(slime|miles)\.utils\.external_utils\.command_utils\.execute_train\w*")
"""Functions of slime and miles that start a training run with the flags that they are given as one text."""
LOGGING_FLAGS = "command_utils.get_default_wandb_args"
"""A function of slime and miles that returns only flags for logging."""
FIELD = re.compile(r"\{([^{}]*)\}")
NOT_A_NAME = re.compile(r"\W+|^(?=\d)")
END_OF_CELL = "END_OF_CELL"
LARGEST, LONGEST = 1e15, 10_000
"""Largest number and longest text that arithmetic may produce. Larger values count as unknown."""


class Config(NamedTuple):
    """Keys that a script gives to a configuration.

    Attributes:
      made_by: the class with the module that it was imported from, "trl.GRPOConfig"; "" for a dictionary.
      keys: the keys with their values.
      line: line number of the call or dictionary.
      unread: the dictionaries that `**` hands over and that are known only when the script runs.
    """

    made_by: str
    keys: dict[str, Any]
    line: int
    unread: tuple[str, ...] = ()


class Subclass(NamedTuple):
    """A class of the script that extends a trainer and overrides methods that compute the objective.

    Attributes:
      name: the name of the class.
      methods: the overridden methods of `OVERRIDABLE`.
    """

    name: str
    methods: tuple[str, ...]


class PythonScript(NamedTuple):
    """The configurations and commands in a script.

    Attributes:
      configs: the configurations in the order of the file, first those of classes, then dictionaries.
      imports: the names of all modules that the script imports.
      shell: the lines that the script passes to a shell.
      notes: remarks for the reader about how the script was read, in whole sentences.
      defaults: names of options and parameters whose default was used as the value of a key.
      classes: names of the classes that the script defines or imports from its own package.
      own_trainers: trainer classes that the script calls and that no known package defines.
      subclasses: classes of the script that extend TRL's trainer and override methods of the objective.
    """

    configs: list[Config]
    imports: set[str]
    shell: str
    notes: list[str]
    defaults: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    own_trainers: tuple[str, ...] = ()
    subclasses: tuple[Subclass, ...] = ()


TRAINER = "GRPOTrainer"
OVERRIDABLE = ("_generate_and_score_completions", "_calculate_rewards", "compute_loss", "_compute_loss")
"""Methods of TRL's trainer that compute rewards and advantages, and those that compute the loss."""


def _subclasses(tree: ast.Module) -> tuple[Subclass, ...]:
    """Return the classes that extend TRL's trainer, override its objective and are used in the script.

    If the script uses no trainer at all, another file may use any of its classes.
    """
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    aliases = {each.asname or each.name for node in imports for each in node.names if each.name == TRAINER}
    trainers = {TRAINER, *aliases}
    methods: dict[str, tuple[str, ...]] = {}
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for node in sorted(classes, key=lambda each: each.lineno):
        bases = [name.rpartition(".")[2] for base in node.bases if (name := _dotted(base))]
        if not any(base in trainers or base in methods for base in bases):
            continue
        own = {each.name for each in node.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))}
        own |= {each for base in bases for each in methods.get(base, ())}
        methods[node.name] = tuple(name for name in OVERRIDABLE if name in own)
    # A class is not used where it is only a base, or named in its own methods, as in super(Mine, self).
    inside = {id(part) for node in classes if node.name in methods for part in ast.walk(node)}
    used = {_dotted(node) for node in ast.walk(tree) if isinstance(node, ast.expr) and id(node) not in inside}
    is_open = not used & {f"trl.{TRAINER}", *trainers, *methods}
    return tuple(Subclass(name, own) for name, own in methods.items() if own and (name in used or is_open))


PACKAGES_WITH_TRAINERS = (
    "trl",
    "unsloth",
    "swift",
    "tunix",
    "transformers",
    "tinker_cookbook",
    "liger_kernel",
)


def _own_trainers(tree: ast.Module) -> tuple[str, ...]:
    """Return the names of classes ...Trainer that a script calls and does not import from a known package."""
    sources = {
        alias.asname or alias.name: node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    called = dict.fromkeys(
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("Trainer")
    )
    return tuple(name for name in called if sources.get(name, "").split(".")[0] not in PACKAGES_WITH_TRAINERS)


def read_python(source: str, given: Mapping[str, Any] = MappingProxyType({})) -> PythonScript:
    """Return the configurations in a script, which may be an exported notebook with lines for IPython.

    Args:
      source: text of the script.
      given: options of the command line that starts the script. They override the defaults in the script.

    Raises:
      ValueError: if the text is not Python.
    """
    shell: list[str] = []
    try:
        if not _is_python(source):
            source, shell = in_python(source)
        tree = ast.parse(source)
        script = _Reader(tree, given).script()
        shell_lines = "\n".join([*shell, script.shell]).strip()
        return script._replace(
            shell=shell_lines, own_trainers=_own_trainers(tree), subclasses=_subclasses(tree)
        )
    except (SyntaxError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        raise ValueError(f"it is not valid Python{f': line {line}' if line else ''}: {error}") from error


def read_notebook(text: str) -> PythonScript:
    """Return the configurations in the code cells of a Jupyter notebook, and the lines that they pass to a shell.

    Raises:
      ValueError: if the text is not a notebook.
    """
    code, shell, unread = [], list[str](), 0
    for cell in _cells(text):
        magic, _, rest = cell.partition("\n")
        if magic.startswith(("%%bash", "%%sh", "%%script bash", "%%!")):
            shell += rest.splitlines()
            continue
        if found := WRITES.match(magic):
            shell += [f"cat > {found[1]} <<'{END_OF_CELL}'", *rest.splitlines(), END_OF_CELL]
        python, lines = in_python(cell)
        shell += lines
        if _is_python(python):
            code.append(python)
        else:
            unread += not found
    script = read_python("\n".join(code))
    cells = "1 cell is" if unread == 1 else f"{unread} cells are"
    notes = [f"{cells} not Python and not read."] if unread else []
    return script._replace(shell="\n".join(shell), notes=[*script.notes, *notes])


SHELL_MAGICS = ("!", "%pip ", "%conda ", "%uv ")
"""Beginnings of lines of a notebook that run a command."""


def in_python(cell: str) -> tuple[str, list[str]]:
    r"""Return a cell with `pass` instead of the lines that only IPython understands, and the lines for the shell.

    >>> in_python("n = 8\n%env A=1\n!trl grpo \\\n  --n {n}")
    ('n = 8\npass\npass\npass', ['export A="1"', 'trl grpo \\\n  --n ${n}'])
    """
    code, shell = [], list[str]()
    goes_on, indent = False, ""
    for line in cell.splitlines():
        inner = line.lstrip()
        if goes_on:
            shell[-1] += "\n" + BRACED.sub(r"${\1}", line)
        elif inner.startswith(SHELL_MAGICS):
            shell.append(BRACED.sub(r"${\1}", inner[1:]))
        elif found := SETS.match(inner):
            shell.append(f'export {found["n"] or found["m"]}="{found[3]}"')
        is_magic = goes_on or inner.startswith(("!", "%"))
        indent = indent if goes_on else line[: len(line) - len(inner)]
        code.append(f"{indent}pass" if is_magic else line)
        goes_on = (goes_on or inner.startswith(SHELL_MAGICS)) and line.endswith("\\")
    return "\n".join(code), shell


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _cells(text: str) -> Iterator[str]:
    try:
        for cell in json.loads(text)["cells"]:
            if cell.get("cell_type") == "code":
                source = cell["source"]
                yield source if isinstance(source, str) else "".join(source)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("it is not a notebook: expected cells with a source") from error


class _Reader:
    """Walk once over a script and record the values of its names."""

    def __init__(self, tree: ast.Module, given: Mapping[str, Any] = MappingProxyType({})):
        self.tree = tree
        self.given = given
        self.notes: list[str] = []
        self.used: set[str] = set()
        self.classes: set[str] = set()
        self.origins: dict[str, str] = {}
        self.imports: set[str] = set()
        self.names: dict[str, Any] = {}
        self.options: dict[str, Any] = {}
        self.fields: dict[str, Any] = {}
        self.configs: list[Config] = []
        self.made: dict[str, Config] = {}
        self.dictionaries: list[Config] = []
        self.commands: list[str] = []
        self.written: dict[str, ast.expr] = {}
        self.defaults: dict[str, Any] = {}
        self.called = set(_called_with_arguments(tree))
        self.in_branches = {
            id(inner) for node in ast.walk(tree) if _is_branch(node) for inner in ast.walk(node)
        }

    def script(self) -> PythonScript:
        """Read the script in the order of its lines. A name has the value that was last assigned to it."""
        for node in ast.walk(self.tree):  # a function may use the options of a parser below it
            if isinstance(node, ast.Call):
                self._see_option(node)
        for node in _in_order(self.tree):
            self._see(node)
        shell = "\n".join(self.commands)
        return PythonScript(
            [*self.configs, *self.dictionaries],
            self.imports,
            shell,
            self.notes,
            frozenset(self.used),
            frozenset(self.classes),
        )

    def _see(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            self.imports |= {alias.name for alias in node.names}
            self.origins |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.module:
            self.classes |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            self.imports.add(node.module)
            self.origins |= {
                alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names
            }
        elif isinstance(node, ast.ClassDef):
            self._see_class(node)
        elif isinstance(node, ast.FunctionDef):
            self._see_function(node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                self._assign(target, node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            value = self._value(node.value)
            self._change(node.target.id, value if isinstance(value, dict) else None, node)
        elif isinstance(node, ast.Delete):
            for each in node.targets:
                if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name):
                    self._change(each.value.id, None, node)
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Dict):
            self._keep(node.value)
        elif isinstance(node, ast.Call):
            self._see_call(node)

    def _keep(self, node: ast.Dict) -> None:
        """Keep a dictionary as a configuration, if its keys are constants."""
        value = self._value(node)
        if isinstance(value, dict):
            self.dictionaries.append(Config("", flat(value), node.lineno))

    def _see_function(self, node: ast.FunctionDef) -> None:
        """Keep the defaults of a function that is always called without arguments."""
        if node.name in self.called:
            return
        named = [*node.args.posonlyargs, *node.args.args]
        defaults = [*zip(named[::-1], node.args.defaults[::-1], strict=False)]
        defaults += zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)  # type: ignore[arg-type]
        for argument, default in defaults:
            value = None if default is None else self._value(default)
            known = value is not None and not isinstance(value, Unknown)
            if known and self.defaults.setdefault(argument.arg, value) != value:
                self.defaults[argument.arg] = Unknown(argument.arg, "several functions have another default")

    def _see_class(self, node: ast.ClassDef) -> None:
        """Read a class of the script that extends a configuration class. Its defaults count as given keys."""
        self.classes.add(node.name)
        bases = [made for base in node.bases if (made := self._origin(base)).endswith(CONFIGS)]
        fields = [item for item in node.body if isinstance(item, ast.AnnAssign) and item.value is not None]
        defaults = {
            item.target.id: self._default(item.value)
            for item in fields
            if isinstance(item.target, ast.Name) and item.value is not None
        }
        if bases:
            self.origins[node.name] = bases[0]
            self.names[f"class {node.name}"] = defaults
        elif any(_dotted(each).endswith(("dataclass", "chz")) for each in _plain(node.decorator_list)):
            self._keep_fields(node.name, defaults)

    def _keep_fields(self, name: str, defaults: Mapping[str, Any]) -> None:
        """Keep the fields of a dataclass of the script, which may be passed on to a configuration."""
        for key, value in defaults.items():
            if self.fields.setdefault(key, value) != value:
                self.fields[key] = Unknown(f"{name}.{key}", "several classes have another default")

    def _default(self, value: ast.expr) -> Any:
        """Return the default of a field, written as `field(default=...)` or plainly."""
        if isinstance(value, ast.Call) and self._origin(value.func).endswith("field"):
            given = [keyword.value for keyword in value.keywords if keyword.arg == "default"]
            return self._value(given[0]) if given else Unknown("field(...)", "it is computed")
        return self._value(value)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            config = self.made.get(target.value.id)
            if config is not None:
                config.keys[target.attr] = self._either(_dotted(target), config.keys.get(target.attr), value)
            return
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            key = self._value(target.slice)
            self._change(target.value.id, {key: self._value(value)} if isinstance(key, str) else None, target)
        if not isinstance(target, ast.Name):
            return
        made = self._config(value)
        if made is not None:
            self.made[target.id] = made
        if target.id not in self.names or id(value) not in self.in_branches:
            self.written[target.id] = value
        else:
            self.written.pop(target.id, None)
        self.names[target.id] = self._either(target.id, self.names.get(target.id), value)
        if isinstance(value, ast.Dict):
            self._keep(value)

    def _either(self, name: str, before: Any, node: ast.expr) -> Any:
        """Return the assigned value. If a branch may or may not assign it and the value before differs, it is unknown."""
        value = self._value(node)
        if id(node) in self.in_branches and before is not None and before != value:
            return Unknown(f"{before} or {value}", f"{name} is set in several branches")
        return value

    def _command(self, node: ast.Call) -> None:
        """Keep the command that a call starts, as one line."""
        name = self._origin(node.func)
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if "train_args" in given and (starts := STARTS.fullmatch(name)):
            script = self._value(given["train_script"]) if "train_script" in given else "train.py"
            self.commands.append(f"python3 {starts[1]}/{script} {self._spelled(given['train_args'])}")
        if not (name == "os.system" or name.startswith("subprocess.")) or not node.args:
            return
        value = self._value(node.args[0])
        if isinstance(value, list):
            self.commands.append(" ".join(_word(item) for item in value))
        else:
            self.commands.append(self._spelled(node.args[0]))

    def _spelled(self, node: ast.expr, seen: frozenset[str] = frozenset()) -> str:
        """Return a text piece by piece. Each unknown piece becomes a shell variable that is never set."""
        value = self._value(node)
        if isinstance(value, str):
            return value
        if isinstance(node, ast.Name) and node.id in self.written and node.id not in seen:
            return self._spelled(self.written[node.id], seen | {node.id})
        if isinstance(node, ast.JoinedStr):
            return "".join(self._spelled(piece, seen) for piece in node.values)
        if isinstance(node, ast.FormattedValue):
            return self._spelled(node.value, seen)
        if isinstance(node, ast.Call) and self._origin(node.func).endswith(LOGGING_FLAGS):
            return ""
        return _word(value)

    def _see_call(self, node: ast.Call) -> None:
        self._config(node)
        self._command(node)
        self._see_option(node)
        self._see_update(node)
        if self._origin(node.func).endswith("Parser") and any(
            isinstance(item, ast.Name) and self._origin(item).endswith(CONFIG) for item in ast.walk(node)
        ):
            self.notes.append(
                f"It takes {CONFIG} from its command line, which is not in this file: explain the line that"
                " launches it, or the file that this line names."
            )

    def _see_update(self, node: ast.Call) -> None:
        """Follow `d.update({...})` and `d.pop("key")` of a dictionary that was assigned before.

        Another change makes the dictionary unknown.
        """
        func = node.func
        if not (
            isinstance(func, ast.Attribute) and func.attr in CHANGES and isinstance(func.value, ast.Name)
        ):
            return
        before = self.names.get(func.value.id)
        if func.attr == "pop" and node.args and isinstance(before, dict) and id(node) not in self.in_branches:
            popped = self._value(node.args[0])
            if isinstance(popped, str):
                self.names[func.value.id] = {key: value for key, value in before.items() if key != popped}
                return
        given: list[Any] = [self._value(each) for each in node.args] + [self._keywords(node)]
        is_read = func.attr == "update" and all(isinstance(each, dict) for each in given)
        is_read = is_read and not any(self._unread(node))
        more = {key: value for part in given for key, value in part.items()} if is_read else None
        self._change(func.value.id, more, node)

    def _change(self, name: str, more: Mapping[str, Any] | None, node: ast.AST) -> None:
        """Add keys to a dictionary that was assigned before.

        Args:
          name: the name of the dictionary.
          more: the keys, or None if they are known only when the script runs. Then the dictionary is unknown.
          node: the statement, which may be in a branch. Then the dictionary is unknown too.
        """
        before = self.names.get(name)
        if not isinstance(before, dict):
            return
        if more is not None and id(node) not in self.in_branches:
            self.names[name] = {**before, **more}
        else:
            self.names[name] = Unknown(name, "it is updated when the script runs")

    def _see_option(self, node: ast.Call) -> None:
        """Record the value of a command-line option: as the command gives it, or else its default."""
        if isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument" and node.args:
            names = [self._value(argument) for argument in node.args]
            name = (
                str(names[-1] if str(names[-1]).startswith("--") else names[0]).lstrip("-").replace("-", "_")
            )
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            if name in self.given:
                self.options[name] = self.given[name]
            elif "default" in given:
                self.options[name] = self._value(given["default"])
            else:
                self.options[name] = Unknown(f"--{name}", "it is an option of the script without a default")

    def _config(self, node: ast.expr) -> Config | None:
        """Return the configuration that a call makes. Each call is recorded once."""
        if not isinstance(node, ast.Call):
            return None
        blueprint = self._blueprint(node)
        made_by = blueprint or self._origin(node.func)
        if not made_by.endswith(CONFIGS):
            return None
        for config in self.configs:
            if config.line == node.lineno and config.made_by == made_by:
                return config
        unread = () if blueprint else tuple(self._unread(node))
        keys = dict(self.names.get(f"class {getattr(node.func, 'id', '')}", {}))
        keys |= self._of_blueprint(node) if blueprint else self._keywords(node)
        for keyword in node.keywords:
            if keyword.arg is not None and isinstance(keyword.value, ast.Call):
                keys |= self._parts(keyword.arg, keyword.value)
        config = Config(made_by, keys, node.lineno, unread)
        self.configs.append(config)
        return config

    def _blueprint(self, node: ast.Call) -> str:
        """Return the class in `chz.Blueprint(Config).apply({...})`, or ""."""
        if not (isinstance(node.func, ast.Attribute) and node.func.attr == "apply"):
            return ""
        inner = node.func.value
        if not (isinstance(inner, ast.Call) and inner.args and self._origin(inner.func) == "chz.Blueprint"):
            return ""
        return self._origin(inner.args[0])

    def _of_blueprint(self, node: ast.Call) -> dict[str, Any]:
        """Return the keys of a blueprint, with those of the objects among its values."""
        value = self._value(node.args[0]) if node.args else None
        if not isinstance(value, dict):
            self.notes.append(f"Line {node.lineno}: the keys of the blueprint are not known here.")
            return {}
        written = node.args[0]
        if isinstance(written, ast.Dict):
            for key, item in zip(written.keys, written.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(item, ast.Call):
                    value = value | self._parts(str(key.value), item)
        return value

    def _parts(self, name: str, node: ast.Call) -> dict[str, Any]:
        """Return the keywords of an object that is the value of a key, as dotted keys: `async_config.groups_per_batch`."""
        return {
            f"{name}.{keyword.arg}": self._value(keyword.value)
            for keyword in node.keywords
            if keyword.arg is not None
        }

    def _keywords(self, node: ast.Call) -> dict[str, Any]:
        keys: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self._value(keyword.value)
            if keyword.arg is not None:
                keys[keyword.arg] = value
            elif isinstance(value, dict):
                keys |= value
        return keys

    def _unread(self, node: ast.Call) -> Iterator[str]:
        """Name the dictionaries that a call hands over with `**` and that cannot be read. They may set any key."""
        for keyword in node.keywords:
            if keyword.arg is None and not isinstance(self._value(keyword.value), dict):
                yield f"The dictionary `{_source(keyword.value)}` of line {node.lineno}"

    def _origin(self, node: ast.expr) -> str:
        """Return the full name of an expression, with the module that it was imported from."""
        name = _dotted(node)
        first, _, rest = name.partition(".")
        origin = self.origins.get(name) or self.origins.get(first)
        if origin is None:
            return name
        return origin if name in self.origins or not rest else f"{origin}.{rest}"

    def _value(self, node: ast.expr) -> Any:
        """Return the value of an expression of constants, or `Unknown`."""
        try:
            value = self._folded(node)
        except (TypeError, ValueError, ArithmeticError, KeyError, IndexError):
            return Unknown(_source(node), "it is computed when the program runs")
        return Unknown(_source(node), "it is too large to be read") if _is_large(value) else value

    def _folded(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, (ast.List, ast.Tuple)):
            return [self._value(item) for item in node.elts]
        if isinstance(node, ast.Dict):
            return self._dictionary(node)
        if isinstance(node, ast.Name):
            return self._named(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.UnaryOp):
            return self._unary(node)
        if isinstance(node, ast.BinOp):
            return self._binary(node)
        if isinstance(node, ast.IfExp):
            test = self._known(node.test)
            return self._value(node.body if test else node.orelse)
        if isinstance(node, ast.JoinedStr):
            return "".join(str(self._known(part)) for part in node.values)
        if isinstance(node, ast.FormattedValue) and node.format_spec is None:
            return self._known(node.value)
        if isinstance(node, ast.Call):
            return self._called(node)
        raise ValueError("no constant")

    def _named(self, node: ast.Name) -> Any:
        """Return the value last assigned to a name, or else the default of a function's parameter of that name."""
        if node.id in self.names or node.id not in self.defaults:
            return self.names.get(node.id, Unknown(node.id, "it is computed when the program runs"))
        value = self.defaults[node.id]
        if not isinstance(value, Unknown):
            self.used.add(node.id)
            self.notes.append(f"Line {node.lineno}: {node.id} is taken to be {value!r}, the default.")
        return value

    def _known(self, node: ast.expr) -> Any:
        value = self._value(node)
        if isinstance(value, Unknown):
            raise ValueError("no constant")
        return value

    def _dictionary(self, node: ast.Dict) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            value = self._value(item)
            if key is not None:
                found[str(self._known(key))] = value
            elif isinstance(value, dict):
                found |= value
            else:
                raise ValueError("no constant")
        return found

    def _made_dictionary(self, node: ast.Call) -> dict[str, Any]:
        """Return the dictionary that `dict(...)` makes: of other dictionaries, of keywords, or of both."""
        parts = [*node.args, *(each.value for each in node.keywords if each.arg is None)]
        read = [self._dictionary_in(each) for each in parts]
        named = {each.arg: self._value(each.value) for each in node.keywords if each.arg is not None}
        return {key: value for part in (*read, named) for key, value in part.items()}

    def _dictionary_in(self, node: ast.expr) -> dict[str, Any]:
        """Return a copy of the dictionary that an expression stands for.

        Raises:
          ValueError: if the dictionary is known only when the script runs.
        """
        value = self._value(node)
        if not isinstance(value, dict):
            raise ValueError("no dictionary of constants")
        return dict(value)

    def _copied(self, node: ast.Call, name: str) -> ast.expr | None:
        """Return the expression that a call copies, as in `copy.copy(d)` and `d.copy()`; None for other calls."""
        if name in COPIES and len(node.args) == 1:
            return node.args[0]
        is_method = isinstance(node.func, ast.Attribute) and node.func.attr == "copy"
        return node.func.value if is_method and isinstance(node.func, ast.Attribute) else None

    def _attribute(self, node: ast.Attribute) -> Any:
        """Return the default of an option of the script, or a key of a configuration that was made before."""
        if isinstance(node.value, ast.Name) and node.value.id in self.made:
            return self.made[node.value.id].keys[node.attr]
        is_option = node.attr in self.options
        value = self.options[node.attr] if is_option else self.fields[node.attr]
        if is_option and node.attr in self.given:
            return value
        if not isinstance(value, Unknown):
            name = f"--{node.attr}" if is_option else _dotted(node)
            self.used.add(node.attr)
            self.notes.append(f"Line {node.lineno}: {name} is taken to be {value!r}, its default.")
        return value

    def _unary(self, node: ast.UnaryOp) -> Any:
        value = self._known(node.operand)
        if isinstance(node.op, ast.Not):
            return not value
        return -value if isinstance(node.op, ast.USub) else +value

    def _binary(self, node: ast.BinOp) -> Any:
        left, right = self._known(node.left), self._known(node.right)
        if isinstance(left, str) and not (isinstance(node.op, ast.Add) and isinstance(right, str)):
            raise ValueError("no arithmetic")
        if isinstance(node.op, ast.Pow) and not (abs(left) <= 1000 and abs(right) <= 10):
            raise ValueError("too large")
        if isinstance(left, list) or isinstance(right, (list, str)) is not isinstance(left, str):
            raise ValueError("no arithmetic")
        return BINARY[type(node.op)](left, right)

    def _called(self, node: ast.Call) -> Any:
        name = self._origin(node.func)
        if name == "dict":
            return self._made_dictionary(node)
        if (source := self._copied(node, name)) is not None:
            return self._dictionary_in(source)
        if name in CASTS and len(node.args) == 1:
            return CASTS[name](self._known(node.args[0]))
        if name in ("os.environ.get", "os.getenv") and len(node.args) == 2:
            default = self._known(node.args[1])
            self.notes.append(
                f"Line {node.lineno}: {self._value(node.args[0])} is taken to be {default!r}, as in an"
                " environment that does not set it."
            )
            return default
        raise ValueError("no constant")


def _word(item: Any) -> str:
    """Return an item as a word of a command line.

    An unknown item becomes a shell variable that is never set.
    """
    if not isinstance(item, Unknown):
        return shlex.quote(str(item))
    inner = item.text[2:-1] if item.text.startswith(("f'", 'f"')) else f"{{{item.text}}}"
    return f'"{FIELD.sub(lambda found: "${" + NOT_A_NAME.sub("_", found[1]) + "}", inner)}"'


def _in_order(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes in the order of the lines, an assignment before its parts."""
    pending = [tree]
    counted = 0
    while pending:
        node = pending.pop()
        counted += 1
        if counted > MOST_NODES * 10:
            raise ValueError("it is too long to be read")
        yield node
        pending += reversed(list(ast.iter_child_nodes(node)))


def _is_branch(node: ast.AST) -> bool:
    """Return true if the statements inside a node may not run. An `if __name__ == "__main__"` always runs."""
    if isinstance(node, ast.If):
        return "__name__" not in {item.id for item in ast.walk(node.test) if isinstance(item, ast.Name)}
    return isinstance(node, (ast.For, ast.While, ast.ExceptHandler))


def _called_with_arguments(tree: ast.AST) -> Iterator[str]:
    """Yield the functions that are called with arguments, such as train in train(8) and train.remote(n=8)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (node.args or node.keywords):
            yield _dotted(node.func).partition(".")[0]


def _plain(decorators: list[ast.expr]) -> Iterator[ast.expr]:
    """Yield decorators without their arguments."""
    for each in decorators:
        yield each.func if isinstance(each, ast.Call) else each


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = _dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return ""


def _source(node: ast.expr) -> str:
    """Return the source of an expression, shortened to fit on a line."""
    text = ast.unparse(node)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _is_large(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) > LONGEST
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) > LARGEST
