"""The examples of the README compute what the README says."""

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from grpo_conformance import assert_conforms
from grpo_conformance.vector import FOLDER

README = Path(__file__).parents[3] / "conformance" / "README.md"
DAPO = """
#include <algorithm>
double dapo(const std::vector<Row>& log_probs, const std::vector<Row>& old_log_probs, const Row& advantages,
            const std::vector<Row>& mask) {
  double sum = 0, count = 0;
  for (size_t i = 0; i < mask.size(); i++)
    for (size_t t = 0; t < mask[i].size(); t++) {
      if (!mask[i][t]) continue;
      double ratio = std::exp(log_probs[i][t] - old_log_probs[i][t]);
      double clipped = std::clamp(ratio, 0.8, CLIP_HIGH);
      sum += std::min(ratio * advantages[i], clipped * advantages[i]);
      count++;
    }
  return -sum / std::max(count, 1.0);
}
"""


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_the_readme_is_one_page():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 110


def test_the_advantage_and_the_average_conform():
    (example,) = [block for block in blocks("python") if "group_centered" in block]
    exec(example, {"assert_conforms": assert_conforms, "np": np})


def include_folder():
    """The folder of nlohmann/json: the PyPI package's, or one where a compiler looks."""
    package = find_spec("nlohmann_json")
    folders = [Path(package.origin).parent / "include"] if package and package.origin else []
    folders += [Path(each) for each in os.environ.get("CPLUS_INCLUDE_PATH", "").split(os.pathsep) if each]
    folders += [Path("/usr/include"), Path("/usr/local/include")]
    return next((each for each in folders if (each / "nlohmann" / "json.hpp").is_file()), None)


@pytest.mark.skipif(not shutil.which("g++") or not include_folder(), reason="needs g++ and nlohmann/json")
@pytest.mark.parametrize(("clip_high", "conforms"), [("1.28", True), ("1.2", False)])
def test_the_example_in_cpp_compiles_and_compares(tmp_path, clip_high, conforms):
    (example,) = blocks("cpp")
    (tmp_path / "main.cpp").write_text(example + DAPO)
    shutil.copy(FOLDER / "losses" / "dapo.json", tmp_path)
    compiler = ["g++", "-std=c++17", f"-DCLIP_HIGH={clip_high}", f"-I{include_folder()}", "main.cpp"]
    subprocess.run(compiler, cwd=tmp_path, check=True)
    result = subprocess.run([tmp_path / "a.out"], cwd=tmp_path)
    assert (result.returncode == 0) == conforms
