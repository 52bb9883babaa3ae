"""Gaussian-process models with honest error bars that run on microcontrollers.

:class:`DiffGPRegressor` and :class:`DiffGPClassifier` are estimators for scikit-learn. What they fit is a model file,
the bytes that a device runs, and what they predict has the device's bits. :class:`Model` is any such file.

>>> import numpy as np
>>> from diffgp import DiffGPRegressor
>>> X = np.linspace(0, 6, 60).reshape(-1, 1)
>>> y = np.sin(X[:, 0])
>>> gp = DiffGPRegressor(flow_time=0, max_iter=20).fit(X, y)
>>> mean, std = gp.predict([[1.5]], return_std=True)
>>> bool(abs(mean[0] - np.sin(1.5)) < 0.05)
True
"""

from ._classifier import DiffGPClassifier
from ._diffgp import __version__
from ._model import Model, Predictions
from ._progress import DiffGPWarning
from ._regressor import DiffGPRegressor

__all__ = ["DiffGPClassifier", "DiffGPRegressor", "DiffGPWarning", "Model", "Predictions", "__version__"]
