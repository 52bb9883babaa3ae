"""scikit-learn's own checks, and its tools around the estimators."""

import io
import pickle
from unittest import SkipTest

import joblib
import numpy as np
import pandas as pd
import pytest
from conftest import QUICK, QUICK_FLOW
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from diffgp import DiffGPClassifier, DiffGPRegressor


#: Checks that scikit-learn skips, and why.
SKIPPED = {"check_array_api_input": "arrays other than NumPy's are not promised; runs with SCIPY_ARRAY_API alone"}


@parametrize_with_checks(
    [
        DiffGPRegressor(**QUICK),
        DiffGPRegressor(**QUICK_FLOW, n_paths=8),
        DiffGPClassifier(**QUICK),
        DiffGPClassifier(**QUICK_FLOW, n_paths=8),
    ]
)
def test_checks_of_scikit_learn(estimator, check):
    try:
        check(estimator)
    except SkipTest as skipped:
        name = check.func.__name__
        assert name in SKIPPED, f"{name} is skipped: {skipped}"
        # What is skipped for us is skipped for scikit-learn's own.
        with pytest.raises(SkipTest):
            check.func("GaussianProcessRegressor", GaussianProcessRegressor(), *check.args[1:], **check.keywords)
        pytest.skip(SKIPPED[name])


def test_cross_validation(waves, classes):
    assert cross_val_score(DiffGPRegressor(**QUICK | {"inducing": 50}), *waves, cv=3).min() > 0.8
    assert cross_val_score(DiffGPClassifier(**QUICK | {"inducing": 50, "max_iter": 50}), *classes, cv=3).min() > 0.6


def test_grid_search_over_parameters_of_the_trainer(waves):
    grid = {"kernel": ["rbf", "matern32"], "flow_time": [0.0, 1.0]}
    search = GridSearchCV(DiffGPRegressor(**QUICK_FLOW), grid, cv=2, n_jobs=2).fit(*waves)
    assert search.best_params_.keys() == grid.keys()
    assert search.predict(waves[0][:3]).shape == (3,)


def test_in_a_pipeline(waves):
    X, y = waves
    scaled = make_pipeline(StandardScaler(), DiffGPRegressor(**QUICK)).fit(X, y)
    mean, std = scaled.predict(X, return_std=True)
    assert mean.shape == std.shape == y.shape

    frame = pd.DataFrame({"x": X[:, 0], "colour": np.where(X[:, 1] > 0, "red", "blue")})
    columns = ColumnTransformer([("word", OneHotEncoder(), ["colour"])], remainder="passthrough")
    mixed = make_pipeline(columns, DiffGPRegressor(**QUICK)).fit(frame, np.sin(X[:, 0]) + (X[:, 1] > 0))
    assert mixed.score(frame, np.sin(X[:, 0]) + (X[:, 1] > 0)) > 0.9


def test_clones_are_unfitted_and_fit_the_same(waves, flow):
    copy = clone(flow)
    assert not hasattr(copy, "model_")
    assert copy.fit(*waves).to_bytes() == flow.to_bytes()


@pytest.mark.parametrize("name", ["regressor", "flow", "classifier"])
def test_pickle_and_joblib_keep_every_bit(name, request, waves, tmp_path):
    fitted, X = request.getfixturevalue(name), waves[0]
    joblib.dump(fitted, tmp_path / "fitted.joblib")
    stream = io.BytesIO()
    pickle.dump(fitted, stream)
    for copy in (joblib.load(tmp_path / "fitted.joblib"), pickle.loads(stream.getvalue())):
        assert copy.to_bytes() == fitted.to_bytes()
        assert (copy.predict(X) == fitted.predict(X)).all()
        assert copy.get_params() == fitted.get_params()
    # A pickle holds the file once, and little else.
    assert len(stream.getvalue()) < len(fitted.to_bytes()) + 3000
