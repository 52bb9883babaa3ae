"""What both estimators share: parameters, fitted state, and what a model says beside its prediction."""

from __future__ import annotations

import os
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _diffgp
from ._arrays import Rows
from ._model import Floats, Model, following, workers
from ._progress import Callback, Listener

Self = TypeVar("Self", bound="Estimator")

#: Parameters that are not options of the trainer.
OWN = {
    "n_paths": (
        "int, default=100",
        "Sample paths per row in predictions; 0 follows the drift alone, which is fast. A model without a flow has none.",
    ),
    "verbose": ("int, default=0", "Shows a bar while training."),
    "callback": (
        "callable, default=None",
        "Hears of the training: a dict with the key event, which is plan, iteration, validation or warning. What it "
        "raises ends the training.",
    ),
}

_NOTES = {
    "n_jobs": " -1 is one per core too.",
    "random_state": " An instance of RandomState draws it.",
}


def documented(cls: type[Self]) -> type[Self]:
    """Puts the parameters into the docstring: the help of the trainer's options, which the command shows too."""
    lines = []
    for name, words, help_ in _diffgp.options():
        if name == "task":
            continue
        kind = "{" + ", ".join(repr(word) for word in words) + "}" if words else "optional"
        lines += [f"{name} : {kind}, default=None", f"    {help_}{_NOTES.get(name, '')}"]
    for name, (kind, help_) in OWN.items():
        lines += [f"{name} : {kind}", f"    {help_}"]
    listed = "\n".join("    " + line for line in lines)
    cls.__doc__ = (cls.__doc__ or "").replace("    {parameters}", listed)
    return cls


class Estimator(BaseEstimator):
    """The part of an estimator that does not depend on what is predicted."""

    model_: Model
    n_features_in_: int

    def __init__(
        self,
        *,
        recipe: str | None = None,
        flow_time: float | None = None,
        steps: int | None = None,
        training_steps: int | None = None,
        scheme: str | None = None,
        chain: bool | None = None,
        inducing: int | None = None,
        flow_inducing: int | None = None,
        temporal: int | None = None,
        kernel: str | None = None,
        shared_kernel: bool | None = None,
        kernel_per_output: bool | None = None,
        max_iter: int | None = None,
        sparse_iterations: int | None = None,
        warm_iterations: int | None = None,
        batch_size: int | None = None,
        paths: int | None = None,
        validation_fraction: float | None = None,
        calibration: str | None = None,
        compact: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        n_paths: int = 100,
        verbose: int | bool = 0,
        callback: Callback | None = None,
    ) -> None:
        self.recipe = recipe
        self.flow_time = flow_time
        self.steps = steps
        self.training_steps = training_steps
        self.scheme = scheme
        self.chain = chain
        self.inducing = inducing
        self.flow_inducing = flow_inducing
        self.temporal = temporal
        self.kernel = kernel
        self.shared_kernel = shared_kernel
        self.kernel_per_output = kernel_per_output
        self.max_iter = max_iter
        self.sparse_iterations = sparse_iterations
        self.warm_iterations = warm_iterations
        self.batch_size = batch_size
        self.paths = paths
        self.validation_fraction = validation_fraction
        self.calibration = calibration
        self.compact = compact
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.n_paths = n_paths
        self.verbose = verbose
        self.callback = callback

    def _options(self) -> dict[str, Any]:
        """The parameters as the trainer takes them."""
        options = {name: value for name, value in self.get_params(deep=False).items() if name not in OWN}
        options["n_jobs"] = None if self.n_jobs is None else workers(self.n_jobs)
        if isinstance(self.random_state, np.random.RandomState):
            options["random_state"] = int(check_random_state(self.random_state).randint(2**31))
        return options

    def _listener(self) -> Listener:
        return Listener(self.verbose, self.callback)

    def _keep(self, native: _diffgp.Model, about: dict[str, Any]) -> None:
        self.model_ = Model._of(native)
        self.n_iter_ = about["iterations"]
        self.training_ = about

    def _names(self, targets: list[str] | None, count: int) -> tuple[list[str], list[str]] | None:
        """Names of inputs and targets; targets without a name get one that no input has."""
        inputs = getattr(self, "feature_names_in_", None)
        if inputs is None:
            return None
        if targets is None:
            targets = [f"y{number}" for number in range(count)] if count > 1 else ["y"]
            while set(targets) & set(inputs):
                targets = [name + "_" for name in targets]
        return list(inputs), targets

    def _rows(self, X: ArrayLike) -> Rows:
        check_is_fitted(self, "model_")
        rows: Rows = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C")
        return rows

    def _answers(self, X: ArrayLike) -> _diffgp.Answers:
        # Every row has the same noise: what is predicted of a row does not depend on the rows around it.
        rows = self._rows(X)
        return self.model_._native.predict(rows, following(self.n_paths, 0, False), workers(self.n_jobs))

    def sample_paths(
        self, X: ArrayLike, n_paths: int | None = None, *, seed: int = 0, return_std: bool = False
    ) -> Floats | tuple[Floats, Floats]:
        """What the model says at the end of every sampled path: ``(rows, n_paths)`` or ``(rows, n_paths, outputs)``.

        Of a classifier these are the functions behind the probabilities.
        """
        X, count = self._rows(X), self.n_paths if n_paths is None else n_paths
        return self.model_.sample_paths(X, n_paths=count, seed=seed, same_noise=True, return_std=return_std)

    def flow(self, X: ArrayLike, n_paths: int = 0, *, seed: int = 0) -> NDArray[np.float64]:
        """Where the flow carries rows: the states along the way, in the units of X.

        ``(rows, steps + 1, features)`` along the drift, ``(rows, n_paths, steps + 1, features)`` along sampled paths.
        """
        return self.model_.flow(self._rows(X), n_paths=n_paths, seed=seed, same_noise=True)

    def in_range(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Whether every feature of a row lies in the range seen in training; elsewhere the model extrapolates."""
        X = self._rows(X)
        return self.model_._native.predict(X, following(0, 0, False), workers(self.n_jobs)).in_range()

    def to_bytes(self) -> bytes:
        """The model file: the bytes that a device runs."""
        check_is_fitted(self, "model_")
        return self.model_.to_bytes()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file (``.dgp``)."""
        check_is_fitted(self, "model_")
        self.model_.save(path)

    @classmethod
    def load(cls: type[Self], source: bytes | str | os.PathLike[str], **parameters: Any) -> Self:
        """A fitted estimator from a model file, or from its bytes; of its parameters, only those that are given."""
        estimator = cls(**parameters)
        estimator._take(Model(source))
        return estimator

    def _take(self, model: Model) -> None:
        """Takes over a model of a file."""
        self.model_ = model
        self.n_features_in_ = model._native.inputs
        if model.input_names is not None:
            self.feature_names_in_ = np.asarray(model.input_names, dtype=object)
