"""Long work: it tells how far it is, can be stopped, leaves others their time, and takes nobody down."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import QUICK, QUICK_FLOW

from diffgp import DiffGPRegressor, _diffgp

#: A training of minutes.
LONG = {"flow_time": 5.0, "max_iter": 100_000, "calibration": "none", "kernel": "rbf"}


def long_rows(rows=3000):
    random = np.random.default_rng(2)
    X = random.normal(size=(rows, 4))
    return X, np.sin(X).sum(axis=1)


def test_news_come_in_their_order(waves):
    news = []
    gp = DiffGPRegressor(**QUICK_FLOW | {"validation_fraction": 0.1}, callback=news.append).fit(*waves)
    assert news[0]["event"] == "plan" and len(news[0]["stages"]) > 1
    stages = [told["stage"] for told in news if told["event"] == "iteration"]
    assert stages == sorted(stages) and set(stages) <= set(range(len(news[0]["stages"])))
    assert any(told["event"] == "validation" for told in news)
    assert 0 < gp.n_iter_


def test_what_a_callback_raises_ends_the_training():
    class Enough(Exception):
        pass

    def callback(news):
        if news["event"] == "iteration":
            raise Enough

    start = time.monotonic()
    with pytest.raises(Enough):
        DiffGPRegressor(**LONG, callback=callback).fit(*long_rows(1500))
    assert time.monotonic() - start < 20


def test_a_bar(waves, capsys):
    gp = DiffGPRegressor(**QUICK_FLOW, verbose=1).fit(*waves)
    lines = capsys.readouterr().err.splitlines()
    # Not a terminal: one line per stage.
    assert 1 <= len(lines) <= 10 and "of at most" in lines[0] and gp.n_iter_ > 0


def test_a_bar_in_a_notebook(waves, monkeypatch):
    drawn = []

    class Shown:
        def update(self, html):
            drawn.append(html)

    class Kernel:
        kernel = object()

    display = type(sys)("IPython.display")
    display.HTML, display.display = str, lambda html, display_id: Shown()
    ipython = type(sys)("IPython")
    ipython.get_ipython, ipython.display = Kernel, display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    DiffGPRegressor(**QUICK_FLOW, verbose=1).fit(*waves)
    assert drawn and all(html.startswith("<progress") for html in drawn)


INTERRUPTED = """
import os, signal, sys, threading, time
# Whoever started the tests may ignore Ctrl-C, as shells do for work in the background.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {tests!r})
from test_work import LONG, long_rows
import numpy as np
from diffgp import DiffGPRegressor

X, y = long_rows()
quick = DiffGPRegressor(flow_time=5, max_iter=1, inducing=100, flow_inducing=50, validation_fraction=0, calibration="none", kernel="rbf").fit(X[:300], y[:300])
wide = np.repeat(X, 100, axis=0)
for name, work in {{
    "fit": lambda: DiffGPRegressor(**LONG).fit(X, y),
    "search": lambda: DiffGPRegressor(max_iter=100_000).fit(X[:2000], y[:2000]),
    "predict": lambda: quick.predict(wide),
    "compress": lambda: quick.model_.compress(X, tolerance=0.001),
}}.items():
    sent = []
    def interrupt():
        time.sleep({delay})
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        work()
        print(name, "was not interrupted")
    except KeyboardInterrupt:
        print(name, time.monotonic() - sent[0])
    thread.join()
small = DiffGPRegressor(flow_time=0, max_iter=2).fit(X[:50], y[:50])
print("whole", small.predict(X[:1]).shape)
"""


def test_ctrl_c_within_a_second_and_the_interpreter_is_whole():
    program = INTERRUPTED.format(tests=os.path.dirname(__file__), delay=1.5)
    finished = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=240)
    assert finished.returncode == 0, finished.stderr
    said = dict(line.split(" ", 1) for line in finished.stdout.splitlines())
    assert said.pop("whole") == "(1,)"
    assert said.keys() == {"fit", "search", "predict", "compress"}
    for name, seconds in said.items():
        assert float(seconds) < 1, (name, seconds)


def test_a_panic_is_an_exception(regressor, waves):
    with pytest.raises(RuntimeError, match="a defect of diffgp, please report it: on purpose"):
        _diffgp._panic_on_purpose()
    assert regressor.predict(waves[0][:1]).shape == (1,)


def test_others_go_on_while_it_works(waves):
    beats, done = [], threading.Event()

    def beat():
        while not done.is_set():
            beats.append(time.monotonic())
            time.sleep(0.01)

    thread = threading.Thread(target=beat)
    thread.start()
    start = time.monotonic()
    DiffGPRegressor(**QUICK_FLOW | {"max_iter": 60, "flow_inducing": 30, "inducing": 60}).fit(*long_rows(1000))
    seconds = time.monotonic() - start
    done.set()
    thread.join()
    # Another thread had the interpreter all the time, whatever the machine was doing.
    assert max(np.diff(beats)) < 0.5 and len(beats) > 10 * seconds


def test_many_threads_at_once(waves):
    fits = []
    threads = [
        threading.Thread(target=lambda: fits.append(DiffGPRegressor(**QUICK_FLOW).fit(*waves).to_bytes()))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(fits) == 4 and len(set(fits)) == 1


def of_a_fork(queue, fitted, X, y):
    queue.put((fitted.predict(X), DiffGPRegressor(**QUICK).fit(X, y).to_bytes()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_has_workers_of_its_own(regressor, waves):
    X, y = waves
    expected = regressor.predict(X)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=of_a_fork, args=(queue, regressor, X, y))
    process.start()
    predicted, fitted = queue.get(timeout=60)
    process.join(timeout=60)
    assert (predicted == expected).all() and fitted == regressor.to_bytes()
    # The workers of this process are still there.
    assert (regressor.predict(X) == expected).all()


SIGNALS = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {tests!r})
from test_work import long_rows
from diffgp import DiffGPRegressor

X, y = long_rows()
DiffGPRegressor(flow_time=0, max_iter=2).fit(X[:50], y[:50]).predict(X[:50])
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""


def test_signals_are_those_of_python():
    # Nothing has taken Ctrl-C away.
    subprocess.run([sys.executable, "-W", "ignore", "-c", SIGNALS.format(tests=os.path.dirname(__file__))], check=True, timeout=240)
