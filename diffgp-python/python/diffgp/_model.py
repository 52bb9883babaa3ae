"""Any model file: what it predicts, and what is to be known of it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _diffgp
from ._arrays import Rows, rows
from ._progress import Callback

Floats = NDArray[np.float64]


def workers(n_jobs: int | None) -> int:
    """The number of worker threads as the trainer has it: 0 for one per core."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if n_jobs < 1:
        raise ValueError(f"n_jobs is {n_jobs}; expected at least 1, or -1 or None for one per core")
    return int(n_jobs)


def following(n_paths: int, seed: int, numbered: bool) -> _diffgp._Following:
    """How the flow is followed."""
    if n_paths < 0:
        raise ValueError(f"n_paths is {n_paths}; expected 0 (along the drift) to 100000")
    if seed < 0:
        raise ValueError(f"seed is {seed}; expected a whole number, not negative")
    return {"paths": int(n_paths), "seed": int(seed), "numbered": numbered}


class Predictions:
    """What a model says of some rows, with the device's bits, as doubles.

    Columns have the shape ``(rows,)``, or ``(rows, targets)`` for several targets.
    """

    def __init__(self, answers: _diffgp.Answers, class_names: list[str]) -> None:
        self._answers = answers
        self._class_names = class_names

    def __len__(self) -> int:
        return len(self._answers)

    def __repr__(self) -> str:
        return f"<Predictions of {len(self)} rows>"

    def _column(self, values: Floats) -> Floats:
        outputs = self._answers.outputs
        return values if outputs == 1 else values.reshape(-1, outputs)

    @property
    def mean(self) -> Floats:
        """The mean of every target; for classes, of the functions behind their probabilities."""
        return self._column(self._answers.mean())

    @property
    def variance(self) -> Floats:
        """The variance of a new observation, noise included."""
        return self._column(self._answers.variance())

    @property
    def std(self) -> Floats:
        """The standard deviation of a new observation, noise included."""
        return self._column(self._answers.std())

    @property
    def latent_variance(self) -> Floats:
        """The variance of the function without noise; never calibrated."""
        return self._column(self._answers.latent_variance())

    def interval(self, level: float = 0.9) -> tuple[Floats, Floats]:
        """Lower and upper ends of the interval that holds a new observation with this probability."""
        low, high = self._answers.interval(level)
        return self._column(low), self._column(high)

    @property
    def probabilities(self) -> Floats:
        """The probability of every class: ``(rows, classes)``."""
        if not self._class_names:
            raise ValueError("a regression has intervals and no probabilities")
        return self._answers.probabilities().reshape(-1, len(self._class_names))

    @property
    def class_index(self) -> NDArray[np.int64]:
        """The most probable class, counted from 0, the first of equals."""
        if not self._class_names:
            raise ValueError("a regression has intervals and no classes")
        return self._answers.class_index()

    @property
    def class_name(self) -> NDArray[np.str_]:
        """The name of the most probable class."""
        return np.asarray(self._class_names)[self.class_index]

    @property
    def in_range(self) -> NDArray[np.bool_]:
        """Whether every input lies in the range seen in training; elsewhere the model extrapolates."""
        return self._answers.in_range()


class Model:
    """A model file (``.dgp``), checked once.

    Parameters
    ----------
    source : bytes or path
        The bytes of a model file, or where it is.

    Examples
    --------
    >>> import numpy as np
    >>> from diffgp import DiffGPRegressor, Model
    >>> X = np.linspace(0, 6, 60).reshape(-1, 1)
    >>> gp = DiffGPRegressor(flow_time=0, max_iter=20).fit(X, np.sin(X[:, 0]))
    >>> model = Model(gp.to_bytes())
    >>> model.inspect()["task"]
    'regression'
    >>> low, high = model.predict([[1.5]]).interval(0.9)
    >>> bool(low[0] < np.sin(1.5) < high[0])
    True
    """

    def __init__(self, source: bytes | bytearray | memoryview | str | os.PathLike[str]) -> None:
        if isinstance(source, bytes | bytearray | memoryview):
            self.name = "model.dgp"
            self._native = _diffgp.Model(bytes(source))
            return
        path = Path(source)
        try:
            content = path.read_bytes()
        except OSError as error:
            # The command's sentence; the system's error stays behind it.
            raise type(error)(
                error.errno, f"{path}: {error.strerror}; expected a model file (.dgp) written by diffgp"
            ) from error
        self.name = path.name
        try:
            self._native = _diffgp.Model(content)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    @classmethod
    def _of(cls, native: _diffgp.Model, name: str = "model.dgp") -> Model:
        model = cls.__new__(cls)
        model._native, model.name = native, name
        return model

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """The model file at this place."""
        return cls(path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file: beside first, so that it is there whole or as it was."""
        path = Path(path)
        beside = path.with_name(path.name + ".partial")
        try:
            beside.write_bytes(self.to_bytes())
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)

    def to_bytes(self) -> bytes:
        """The model file: the bytes that a device runs."""
        return self._native.to_bytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __repr__(self) -> str:
        kind = "classification" if self._native.classes else "regression"
        return f"<Model {self.name}: {kind} by {self._native.inputs} inputs, {len(self.to_bytes())} bytes>"

    @property
    def input_names(self) -> list[str] | None:
        """The names of the inputs, if the file holds them."""
        return self._native.names[: self._native.inputs] or None

    @property
    def target_names(self) -> list[str] | None:
        """The names of the targets, if the file holds them."""
        return self._native.names[self._native.inputs :] or None

    @property
    def class_names(self) -> list[str] | None:
        """The names of the classes, their numbers where the file holds none; nothing for a regression."""
        if not self._native.classes:
            return None
        return self._native.class_names or [str(number) for number in range(self._native.classes)]

    def _rows(self, X: ArrayLike) -> Rows:
        return rows(X, self.input_names)

    def predict(
        self,
        X: ArrayLike,
        *,
        n_paths: int = 100,
        seed: int = 0,
        same_noise: bool = False,
        n_jobs: int | None = None,
    ) -> Predictions:
        """Predicts rows with the device's own code, as ``diffgp predict`` does.

        Parameters
        ----------
        X : array or data frame of shape (rows, inputs)
            Columns of a data frame are found by their names if the model holds names.
        n_paths : int
            Sample paths per row; 0 follows the drift alone.
        seed : int
            Decides the paths, together with the row and the path.
        same_noise : bool
            Gives every row the noise of row 0, which makes predictions a function of X alone, as the estimators do.
            Otherwise row i has that of row i in a file.
        n_jobs : int or None
            Worker threads; None or -1 for one per core. Predictions do not depend on it.
        """
        how = following(n_paths, seed, not same_noise)
        return Predictions(self._native.predict(self._rows(X), how, workers(n_jobs)), self.class_names or [])

    def sample_paths(
        self, X: ArrayLike, *, n_paths: int = 100, seed: int = 0, same_noise: bool = False, return_std: bool = False
    ) -> Floats | tuple[Floats, Floats]:
        """What the model says at the end of every sampled path: ``(rows, n_paths)`` or ``(rows, n_paths, outputs)``.

        The mean over the paths is the mean of :meth:`predict`. With ``return_std``, also the deviation of the function
        at the end of the path, without noise.
        """
        if n_paths < 1:
            raise ValueError(f"n_paths is {n_paths}; expected 1 to 100000")
        X, outputs = self._rows(X), self._native.outputs
        ends = self._native.path_ends(X, following(n_paths, seed, not same_noise), 0)
        # Without a flow all paths are one.
        taken = n_paths if self._native.steps else 1
        ends = np.broadcast_to(ends.reshape(len(X), taken, outputs, 2), (len(X), n_paths, outputs, 2))
        mean, std = (np.array(ends[..., 0, part] if outputs == 1 else ends[..., part]) for part in (0, 1))
        return (mean, std) if return_std else mean

    def flow(self, X: ArrayLike, *, n_paths: int = 0, seed: int = 0, same_noise: bool = False) -> Floats:
        """Where the flow carries rows: the states along the way, in the units of X.

        ``(rows, steps + 1, inputs)`` along the drift, ``(rows, n_paths, steps + 1, inputs)`` along sampled paths; the
        first state is the row itself. A model without a flow has one state.
        """
        X = self._rows(X)
        states = self._native.states(X, following(n_paths, seed, not same_noise), 0)
        length = self._native.steps + 1
        if not n_paths:
            return states.reshape(len(X), length, X.shape[1])
        states = states.reshape(len(X), -1, length, X.shape[1])
        return np.array(np.broadcast_to(states, (len(X), n_paths, *states.shape[2:])))

    def inspect(self) -> dict[str, Any]:
        """What ``diffgp inspect --json`` prints: sizes, work, inputs, calibration, what compression did."""
        summary: dict[str, Any] = json.loads(_diffgp.inspect_json(self._native))
        return summary

    def describe(self) -> str:
        """What ``diffgp inspect`` prints for people."""
        return _diffgp.inspect_text(self._native, self.name)

    def compress(
        self,
        X: ArrayLike | None = None,
        *,
        max_bytes: int | None = None,
        max_instructions: int | None = None,
        tolerance: float | None = None,
        integers: bool = False,
        mean_only: bool = False,
        core: str = "m4f",
        n_jobs: int | None = None,
        callback: Callback | None = None,
    ) -> Model:
        """A smaller model that predicts nearly the same, as ``diffgp compress`` makes it.

        Parameters
        ----------
        X : array or data frame, optional
            The rows it was trained on, by which losses are measured; without them, made-up rows.
        max_bytes, max_instructions : int, optional
            The largest file; the most instructions of a sampled path, on ``core``.
        tolerance : float, optional
            The most to lose, in nats per row.
        integers : bool
            For devices without floating-point hardware: evaluated in integers.
        mean_only : bool
            Give up the variance for a constant error bar.
        core : str
            The core that instructions are estimated for: m4f, m33, m3, m0 or rv32.
        callback : callable, optional
            Hears of every choice, as a dict with bytes, instructions and loss.

        Its error bars are not calibrated any more. :meth:`inspect` shows what can have changed.
        """
        wanted: _diffgp._Wanted = {
            "max_bytes": max_bytes,
            "max_instructions": max_instructions,
            "tolerance": tolerance,
            "integers": integers,
            "mean_only": mean_only,
            "core": core,
        }
        searched = None if X is None else self._rows(X)
        small, cost = _diffgp.compress(self._native, searched, wanted, workers(n_jobs), callback)
        model = Model._of(small, self.name)
        model.compression_ = cost
        return model

    #: What :meth:`compress` reached: bytes, instructions and loss in nats per row, before and after.
    compression_: dict[str, Any]

    def to_c(self, name: str | None = None, directory: str | os.PathLike[str] | None = None) -> dict[str, str]:
        """The model as C that compiles as it is, as ``diffgp export --c`` writes it: names of files and their text.

        With ``directory``, the files are also written there.
        """
        files = dict(_diffgp.to_c(self._native, name or self.name))
        if directory is not None:
            Path(directory).mkdir(parents=True, exist_ok=True)
            for file, text in files.items():
                (Path(directory) / file).write_text(text, encoding="utf-8")
        return files

    def report(self, X: ArrayLike | None = None, y: ArrayLike | None = None, *, described: str = "These rows") -> str:
        """A page (HTML) with figures and pictures, as a training of the command leaves one.

        X and y are rows with known targets, best held out from training; without them the page tells what the model
        itself does.
        """
        return _diffgp.report(self._native, self.name, self._labelled(X, y, described))

    def explore(self, X: ArrayLike | None = None, y: ArrayLike | None = None, *, described: str = "These rows.") -> str:
        """A page (HTML) to play with the model in any browser, as ``diffgp explore`` writes it."""
        return _diffgp.explore(self._native, self.name, self._labelled(X, y, described))

    def _labelled(self, X: ArrayLike | None, y: ArrayLike | None, described: str) -> _diffgp._Labelled | None:
        if X is None and y is None:
            return None
        if X is None or y is None:
            raise ValueError("expected X and y, or neither of them")
        return self._rows(X), self._targets(y), described

    def _targets(self, y: ArrayLike) -> NDArray[np.float32]:
        """Targets as the runtime has them: numbers, or indices of classes."""
        if self.class_names is not None:
            place = {name: index for index, name in enumerate(self.class_names)}
            y = [_index(place, label) for label in np.asarray(y).ravel()]
        targets = np.asarray(y, dtype=np.float32)
        if not np.isfinite(targets).all():
            raise ValueError("y holds what is not finite; expected finite numbers")
        return np.ascontiguousarray(targets.reshape(len(targets), -1))

    def _repr_html_(self) -> str:
        facts = self.inspect()
        kind = f"{facts['task']} by {facts['inputs']} inputs"
        flow = f"T = {facts['flow_time']:g} in {facts['steps']} steps" if facts["steps"] else "none"
        lines = [
            ("model", f"{self.name}: {kind}"),
            ("flash", f"{facts['bytes']} bytes"),
            ("RAM", f"{facts['workspace_bytes']} bytes of workspace, about {facts['stack_bytes_estimated']} of stack"),
            ("flow", flow),
            ("error bars", _diffgp.error_bars(self._native)),
        ]
        cells = "".join(f"<tr><td>{escape(label)}</td><td>{escape(text)}</td></tr>" for label, text in lines)
        picture = _diffgp.flow_picture(self._native)
        return f"<table>{cells}</table>" + (
            f"<div>The flow, seen from made-up rows:</div><div>{picture}</div>" if picture else ""
        )


def label_name(label: object) -> str:
    """What a class label is called in a model file."""
    if isinstance(label, float | np.floating) and float(label).is_integer():
        return str(int(label))
    return str(label)


def _index(place: dict[str, int], label: object) -> int:
    name = label_name(label)
    if name not in place:
        raise ValueError(f"{name!r} is none of the model's classes, {', '.join(place)}")
    return place[name]


def labels_of(names: Sequence[str]) -> NDArray[Any]:
    """Labels from the names in a file: whole numbers and truth values where all of them are."""
    if set(names) <= {"False", "True"}:
        return np.asarray([name == "True" for name in names])
    try:
        numbers = [int(name) for name in names]
    except ValueError:
        return np.asarray(names)
    return np.asarray(numbers) if [str(number) for number in numbers] == list(names) else np.asarray(names)
