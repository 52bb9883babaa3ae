"""The estimators: what they take, what they give, and what they refuse."""

import numpy as np
import pandas as pd
import pytest
from conftest import QUICK, QUICK_FLOW
from sklearn.exceptions import NotFittedError

from diffgp import DiffGPClassifier, DiffGPRegressor, DiffGPWarning, Model, _diffgp
from diffgp._estimator import OWN


def test_parameters_are_the_options_of_the_trainer_and_documented():
    schema = {name for name, *_ in _diffgp.options()} - {"task"}
    for estimator in (DiffGPRegressor, DiffGPClassifier):
        assert set(estimator().get_params()) - set(OWN) == schema
        for name in estimator().get_params():
            assert f"\n    {name} : " in estimator.__doc__


def test_a_prediction_does_not_depend_on_the_rows_around_it(flow, waves):
    X, _ = waves
    together = flow.predict(X[:20], return_std=True)
    alone = [flow.predict(X[i : i + 1], return_std=True) for i in range(20)]
    for part in (0, 1):
        assert (together[part] == np.concatenate([row[part] for row in alone])).all()
    # The spread of the paths is part of it.
    assert (flow.sample_paths(X[:20]).std(axis=1) > 0).all()


def test_intervals_hold_their_share_and_widen_with_it(waves):
    random = np.random.default_rng(3)
    X = random.uniform(-2, 2, (400, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.1 * random.normal(size=400)
    gp = DiffGPRegressor(**QUICK | {"calibration": "table", "inducing": 50}).fit(X[:200], y[:200])
    widths = []
    for level in (0.5, 0.9, 0.99):
        low, high = gp.predict_interval(X[200:], level)
        # Three deviations of a binomial of 200.
        assert abs(np.mean((low <= y[200:]) & (y[200:] <= high)) - level) < 3 * np.sqrt(level * (1 - level) / 200) + 0.02
        widths.append(np.mean(high - low))
    assert widths == sorted(widths)


def test_several_targets(waves):
    X, y = waves
    both = DiffGPRegressor(**QUICK_FLOW).fit(X, np.column_stack([y, 100 + 3 * X[:, 0]]))
    mean, std = both.predict(X[:5], return_std=True)
    low, high = both.predict_interval(X[:5])
    assert mean.shape == std.shape == low.shape == high.shape == (5, 2)
    assert (low < mean).all() and (mean < high).all()
    assert abs(mean[:, 1] - 100 - 3 * X[:5, 0]).max() < 1
    assert both.sample_paths(X[:5], 7).shape == (5, 7, 2)
    assert both.score(X, np.column_stack([y, 100 + 3 * X[:, 0]])) > 0.5


def test_the_flow_begins_at_the_row_and_paths_spread(flow, waves):
    X = waves[0][:4]
    drift, paths = flow.flow(X), flow.flow(X, 6)
    assert drift.shape == (4, 4, 2) and paths.shape == (4, 6, 4, 2)
    np.testing.assert_allclose(drift[:, 0], X, rtol=1e-5)
    np.testing.assert_allclose(paths[:, :, 0], np.broadcast_to(X[:, None], (4, 6, 2)), rtol=1e-5)
    assert (paths[:, :, -1].std(axis=1) > 0).all()
    assert np.abs(drift[:, -1] - drift[:, 0]).max() > 0


def test_the_mean_of_paths_is_the_prediction(flow, waves):
    X = waves[0][:6]
    mean, std = flow.sample_paths(X, 50, return_std=True)
    said = flow.model_.predict(X, n_paths=50, same_noise=True)
    np.testing.assert_allclose(mean.mean(axis=1), said.mean, rtol=1e-5, atol=1e-6)
    # Law of total variance.
    np.testing.assert_allclose((std**2).mean(axis=1) + mean.var(axis=1), said.latent_variance, rtol=1e-3)


def test_without_a_flow_all_paths_are_one(regressor, waves):
    X = waves[0][:3]
    assert regressor.flow(X).shape == (3, 1, 2)
    paths = regressor.sample_paths(X, 5)
    assert paths.shape == (3, 5) and (paths == paths[:, :1]).all()


LABELS = {
    "words": (["yes", "no"], ["no", "yes"]),
    "numbers in words": (["10", "9"], ["9", "10"]),
    "whole numbers": ([10, 9, -1], ["-1", "9", "10"]),
    "whole floats": ([1.0, 2.0], ["1", "2"]),
    "truth values": ([True, False], ["False", "True"]),
    "categories": (pd.Categorical(["b", "a"]), ["a", "b"]),
    "objects": (np.array(["Ω", "ä"], dtype=object), ["ä", "Ω"]),
}


@pytest.mark.parametrize("labels, names", LABELS.values(), ids=LABELS)
def test_labels_of_any_kind(labels, names):
    labels = np.asarray(labels)
    X = np.linspace(-1, 1, 40 * len(labels)).reshape(-1, 1)
    y = labels[np.arange(len(X)) // 40]
    gp = DiffGPClassifier(**QUICK | {"max_iter": 30}).fit(X, y)
    assert gp.classes_.tolist() == sorted(labels.tolist())
    assert gp.model_.class_names == names
    assert gp.score(X, y) > 0.9
    probabilities = gp.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-6)
    assert (gp.classes_[probabilities.argmax(axis=1)] == gp.predict(X)).all()
    np.testing.assert_allclose(np.exp(gp.predict_log_proba(X)), probabilities)
    again = DiffGPClassifier.load(gp.to_bytes())
    assert [str(label) for label in again.predict(X)] == [str(np.asarray(label).astype(object)).removesuffix(".0") for label in gp.predict(X)]


def test_labels_that_a_file_cannot_tell_apart_are_refused(waves):
    X, _ = waves
    with pytest.raises(ValueError, match='the labels "1" and "1.0" are one class; rename one of them'):
        DiffGPClassifier(**QUICK).fit(X, np.select([X[:, 0] > 1, X[:, 0] > 0], ["1", "1.0"], "2"))
    with pytest.raises(ValueError, match="missing value"):
        DiffGPClassifier(**QUICK).fit(X, np.where(X[:, 0] > 0, "na", "b"))


def test_names_of_data_frames_are_in_the_model(waves):
    X, y = waves
    frame = pd.DataFrame(X, columns=["angle", "load"])
    gp = DiffGPRegressor(**QUICK).fit(frame, pd.Series(y, name="force"))
    assert gp.feature_names_in_.tolist() == ["angle", "load"]
    assert (gp.model_.input_names, gp.model_.target_names) == (["angle", "load"], ["force"])
    unnamed = DiffGPRegressor(**QUICK).fit(pd.DataFrame(X, columns=["y", "x"]), y)
    assert unnamed.model_.target_names == ["y_"]
    # The model finds its columns, whatever their order; the estimator wants that of the fit, as others do.
    shuffled = frame[["load", "angle"]].assign(remark="none")
    expected = gp.model_.predict(frame).mean
    assert (gp.model_.predict(shuffled).mean == expected).all()
    blanks = frame.rename(columns={"load": " load "})
    assert (DiffGPRegressor(**QUICK).fit(blanks, y).model_.predict(blanks).mean == expected).all()
    with pytest.raises(ValueError, match="no column 'load'"):
        gp.model_.predict(frame[["angle"]])


def test_saved_and_loaded(flow, classifier, waves, tmp_path):
    X, _ = waves
    flow.save(tmp_path / "flow.dgp")
    loaded = DiffGPRegressor.load(tmp_path / "flow.dgp")
    assert (loaded.predict(X) == flow.predict(X)).all()
    assert loaded.n_features_in_ == 2
    classifier.save(tmp_path / "classes.dgp")
    loaded = DiffGPClassifier.load(tmp_path / "classes.dgp", n_jobs=1)
    assert (loaded.predict(X) == classifier.predict(X)).all()
    assert loaded.classes_.tolist() == ["high", "low", "middle"]
    with pytest.raises(ValueError, match="predicts classes"):
        DiffGPRegressor.load(tmp_path / "classes.dgp")
    with pytest.raises(ValueError, match="predicts numbers"):
        DiffGPClassifier.load(flow.to_bytes())
    assert [file.name for file in tmp_path.iterdir() if "partial" in file.name] == []


def test_numbers_of_threads_and_paths(flow, waves):
    X, y = waves
    one = DiffGPRegressor(**QUICK_FLOW, n_jobs=1).fit(X, y)
    assert one.to_bytes() == flow.to_bytes()
    assert (one.predict(X) == flow.predict(X)).all()
    drift = DiffGPRegressor(**QUICK_FLOW, n_paths=0).fit(X, y)
    assert (drift.predict(X) == flow.model_.predict(X, n_paths=0).mean).all()


def test_random_states():
    X = np.linspace(0, 1, 50).reshape(-1, 1)
    of = lambda state: DiffGPRegressor(**QUICK_FLOW | {"max_iter": 2}, random_state=state).fit(X, X[:, 0] ** 2).to_bytes()  # noqa: E731
    assert of(None) == of(0) != of(1)
    assert of(np.random.RandomState(5)) == of(np.random.RandomState(5)) != of(np.random.RandomState(6))


REFUSED = {
    "kernel is 'cubic'; expected \"rbf\" or \"matern32\" or \"matern52\"": {"kernel": "cubic"},
    "max_iter is -1; expected a whole number, not negative": {"max_iter": -1},
    "max_iter is True; expected a whole number, not negative": {"max_iter": True},
    "chain is 1; expected True or False": {"chain": 1},
    "flow_time is 1000; expected 0 \\(no flow\\) or 1e-6 to 100": {"flow_time": 1000},
    "batch_size is 0; expected at least 1": {"batch_size": 0},
    "n_jobs is 0; expected at least 1, or -1": {"n_jobs": 0},
    "n_jobs is 257; expected": {"n_jobs": 257},
}


@pytest.mark.parametrize("sentence, parameters", REFUSED.items(), ids=REFUSED)
def test_parameters_are_refused_in_one_sentence(sentence, parameters, waves):
    with pytest.raises(ValueError, match=sentence):
        DiffGPRegressor(**QUICK_FLOW | parameters).fit(*waves)


def test_data_are_refused_in_one_sentence(regressor):
    X = np.ones((5, 1))
    seconds = 1.7e9 + np.arange(5.0).reshape(-1, 1)
    with pytest.raises(ValueError, match="subtract a constant from the column"):
        DiffGPRegressor(**QUICK).fit(seconds, X[:, 0])
    with pytest.raises(ValueError, match="row 3, input 0: 1e39 is beyond the range of 32-bit floats"):
        DiffGPRegressor(**QUICK).fit([[1.0], [2.0], [1e39]], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="3 features, but .* expecting 2 features"):
        regressor.predict(np.ones((4, 3)))
    with pytest.raises(ValueError, match="row 2: "):
        regressor.predict([[0.0, 0.0], [1e39, 0.0]])
    with pytest.raises(ValueError, match="level is 1.5"):
        regressor.predict_interval([[0.0, 0.0]], 1.5)
    with pytest.raises(ValueError, match="level is 0.99999999999"):
        regressor.predict_interval([[0.0, 0.0]], 0.99999999999)
    with pytest.raises(NotFittedError):
        DiffGPRegressor().to_bytes()


def test_warnings_are_warnings():
    X = np.linspace(0, 1, 12).reshape(-1, 1)
    with pytest.warns(DiffGPWarning, match="12 rows are often too narrow"):
        DiffGPRegressor(**QUICK).fit(X, X[:, 0])


def test_single_precision_is_taken_as_it_is(regressor, waves):
    X = waves[0].astype(np.float32)
    assert (regressor.predict(X) == regressor.predict(X.astype(np.float64))).all()
    assert (regressor.predict(X) == Model(regressor.to_bytes()).predict(X[:, ::-1][:, ::-1], same_noise=True).mean).all()
