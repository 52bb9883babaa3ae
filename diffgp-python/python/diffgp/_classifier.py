"""Classes: two to 32 of them, whatever their labels are."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from . import _diffgp
from ._arrays import column_names
from ._estimator import Estimator, documented
from ._model import Floats, Model, label_name, labels_of

Self = TypeVar("Self", bound="DiffGPClassifier")


@documented
class DiffGPClassifier(ClassifierMixin, Estimator):
    """A Gaussian-process classifier whose inputs may be carried by a flow first.

    What is fitted is a model file, the bytes that a device runs; the same data and options give the same bytes as
    ``diffgp train``. Probabilities are the device's, to the bit. The file holds the labels as text.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    model_ : Model
        What was fitted.
    classes_ : ndarray
        The labels in their order.
    n_features_in_ : int
        Features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a data frame whose columns all have text for a name.
    n_iter_ : int
        Iterations of all stages together.
    training_ : dict
        What is known of the training.

    Examples
    --------
    >>> import numpy as np
    >>> from diffgp import DiffGPClassifier
    >>> X = np.linspace(0, 6, 60).reshape(-1, 1)
    >>> labels = np.where(X[:, 0] < 3, "low", "high")
    >>> gp = DiffGPClassifier(flow_time=0, max_iter=20).fit(X, labels)
    >>> gp.predict([[0.5], [5.5]])
    array(['low', 'high'], dtype='<U4')
    >>> gp.predict_proba([[0.5]]).shape
    (1, 2)
    """

    classes_: NDArray[Any]

    def fit(self: Self, X: ArrayLike, y: ArrayLike) -> Self:
        """Trains on rows of X and their classes: words, numbers, truth values."""
        target_names = column_names(y)
        rows, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_, codes = np.unique(column_or_1d(y), return_inverse=True)
        labels = [label_name(label) for label in self.classes_]
        names = self._names(target_names, 1)
        listener = self._listener()
        try:
            native, about = _diffgp.fit_classes(
                rows,
                codes.astype(np.int64),
                labels,
                (names[0], names[1][0]) if names else None,
                self._options(),
                listener,
            )
        finally:
            listener.close()
        # The file may have another order: "9" before "10".
        self._places = np.asarray(about.pop("places"))
        self._keep(native, about)
        return self

    def predict_proba(self, X: ArrayLike) -> Floats:
        """The probability of every class, in the order of ``classes_``."""
        probabilities = self._answers(X).probabilities().reshape(-1, len(self._places))
        return probabilities[:, self._places]

    def predict_log_proba(self, X: ArrayLike) -> Floats:
        """The logarithm of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable class of every row."""
        most_probable = self._answers(X).class_index()
        return self.classes_[np.argsort(self._places)[most_probable]]

    def _take(self, model: Model) -> None:
        if model.class_names is None:
            raise ValueError(f"{model.name} predicts numbers; expected a model of classes, or DiffGPRegressor")
        super()._take(model)
        self.classes_ = labels_of(model.class_names)
        self._places = np.arange(len(self.classes_))
