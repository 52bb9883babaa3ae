"""What the documents say is what happens: examples, the tutorial, types."""

import doctest
import subprocess
import sys

import pytest
from conftest import ROOT

import diffgp
from diffgp import _classifier, _model, _regressor


@pytest.mark.parametrize("module", [diffgp, _model, _regressor, _classifier], ids=lambda module: module.__name__)
@pytest.mark.filterwarnings("ignore")
def test_examples_of_docstrings(module):
    assert doctest.testmod(module).failed == 0
    assert doctest.testmod(module).attempted > 0


@pytest.mark.filterwarnings("ignore")
def test_the_tutorial_and_the_readme_say_what_happens(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for document in ("docs/python.md", "diffgp-python/README.md"):
        outcome = doctest.testfile(str(ROOT / document), module_relative=False, optionflags=doctest.ELLIPSIS)
        assert outcome.attempted > 3 and outcome.failed == 0


def test_types():
    package = ROOT / "diffgp-python/python/diffgp"
    settings = ["--config-file", str(ROOT / "diffgp-python/pyproject.toml")]
    checked = subprocess.run([sys.executable, "-m", "mypy", *settings, str(package)], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


def test_stubs_are_those_of_the_extension_module():
    checked = subprocess.run([sys.executable, "-m", "mypy.stubtest", "diffgp._diffgp"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
