"""Numbers: one or several targets."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from . import _diffgp
from ._arrays import column_names
from ._estimator import Estimator, documented
from ._model import Floats, Model

Self = TypeVar("Self", bound="DiffGPRegressor")


@documented
class DiffGPRegressor(RegressorMixin, Estimator):
    """A Gaussian process whose inputs may be carried by a flow first, with calibrated error bars.

    What is fitted is a model file, the bytes that a device runs; the same data and options give the same bytes as
    ``diffgp train``. Predictions are the device's, to the bit.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    model_ : Model
        What was fitted.
    n_features_in_ : int
        Features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a data frame whose columns all have text for a name.
    n_outputs_ : int
        Targets.
    n_iter_ : int
        Iterations of all stages together.
    training_ : dict
        What is known of the training: the iteration that was kept, its log-likelihood of validation rows, what the flow
        and the kernel gained.

    Examples
    --------
    >>> import numpy as np
    >>> from diffgp import DiffGPRegressor
    >>> X = np.linspace(0, 6, 60).reshape(-1, 1)
    >>> gp = DiffGPRegressor(flow_time=0, max_iter=20).fit(X, np.sin(X[:, 0]))
    >>> gp.score(X, np.sin(X[:, 0])) > 0.99
    True
    >>> low, high = gp.predict_interval([[1.5], [3.0]], 0.9)
    >>> low.shape
    (2,)
    """

    n_outputs_: int

    def fit(self: Self, X: ArrayLike, y: ArrayLike) -> Self:
        """Trains on rows of X and their targets, one or several of them per row."""
        target_names = column_names(y)
        rows, y = validate_data(
            self,
            X,
            y,
            dtype=[np.float64, np.float32],
            order="C",
            multi_output=True,
            y_numeric=True,
            ensure_min_samples=2,
        )
        targets = np.ascontiguousarray(y, dtype=np.float64).reshape(len(rows), -1)
        names = self._names(target_names, targets.shape[1])
        listener = self._listener()
        try:
            native, about = _diffgp.fit_numbers(rows, targets, names, self._options(), listener)
        finally:
            listener.close()
        self._keep(native, about)
        self.n_outputs_ = native.outputs
        return self

    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """The mean of every row, and with ``return_std`` the deviation of a new observation, noise included."""
        answers = self._answers(X)
        mean = self._column(answers.mean())
        return (mean, self._column(answers.std())) if return_std else mean

    def predict_interval(self, X: ArrayLike, level: float = 0.9) -> tuple[Floats, Floats]:
        """Lower and upper ends of the interval that holds a new observation with this probability."""
        low, high = self._answers(X).interval(level)
        return self._column(low), self._column(high)

    def _column(self, values: Floats) -> Floats:
        return values if self.n_outputs_ == 1 else values.reshape(-1, self.n_outputs_)

    def _take(self, model: Model) -> None:
        if model.class_names is not None:
            raise ValueError(f"{model.name} predicts classes; expected a model of numbers, or DiffGPClassifier")
        super()._take(model)
        self.n_outputs_ = model._native.outputs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
