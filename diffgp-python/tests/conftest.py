"""What the tests share: small data, quick estimators, and the command to compare with."""

import os
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

from diffgp import DiffGPClassifier, DiffGPRegressor, DiffGPWarning

#: A fit of tiny data takes a few hundredths of a second with these.
QUICK = {"flow_time": 0.0, "max_iter": 5, "inducing": 10, "calibration": "none", "kernel": "rbf"}
#: The same with a flow.
QUICK_FLOW = QUICK | {"flow_time": 1.0, "steps": 3, "flow_inducing": 5}

ROOT = Path(__file__).resolve().parents[2]


def pytest_configure(config):
    # Tiny data deserve their warnings; tests of warnings ask for them.
    warnings.simplefilter("ignore", DiffGPWarning)
    config.addinivalue_line("filterwarnings", "ignore::diffgp.DiffGPWarning")


@pytest.fixture(scope="session")
def command():
    """Runs ``diffgp`` and returns what it prints."""
    program = os.environ.get("DIFFGP_COMMAND")
    if program is None:
        pytest.skip("DIFFGP_COMMAND does not name the diffgp command")

    def run(*arguments, expected=0):
        finished = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
        assert finished.returncode == expected, finished.stderr
        return finished.stdout if expected == 0 else finished.stderr

    return run


@pytest.fixture(scope="session")
def waves():
    """Rows of two features and a target with noise."""
    random = np.random.default_rng(1)
    X = random.uniform(-2, 2, (120, 2))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + 0.1 * random.normal(size=120)


@pytest.fixture(scope="session")
def regressor(waves):
    return DiffGPRegressor(**QUICK).fit(*waves)


@pytest.fixture(scope="session")
def flow(waves):
    """A regressor with a flow."""
    return DiffGPRegressor(**QUICK_FLOW).fit(*waves)


@pytest.fixture(scope="session")
def classes(waves):
    """Rows of three classes."""
    X, y = waves
    return X, np.array(["high", "low", "middle"])[np.digitize(y, [-0.4, 0.4]) - 1]


@pytest.fixture(scope="session")
def classifier(classes):
    return DiffGPClassifier(**QUICK).fit(*classes)
