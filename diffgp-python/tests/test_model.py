"""Any model file: predictions, figures, pages, C, smaller ones."""

import pickle
from html.parser import HTMLParser

import numpy as np
import pytest
from conftest import QUICK

from diffgp import DiffGPRegressor, Model


def test_predictions_are_columns_of_one_distribution(flow, waves):
    said = flow.model_.predict(waves[0])
    np.testing.assert_allclose(said.std**2, said.variance, rtol=1e-6)
    low, high = said.interval(0.5)
    np.testing.assert_allclose((low + high) / 2, said.mean, atol=1e-6)
    assert (said.latent_variance < said.variance).all()
    assert said.in_range.all() and len(said) == len(waves[0])
    assert not flow.model_.predict([[50.0, 0.0]]).in_range[0]
    with pytest.raises(ValueError, match="no probabilities"):
        said.probabilities
    with pytest.raises(ValueError, match="no classes"):
        said.class_index


def test_predictions_of_classes(classifier, classes):
    said = classifier.model_.predict(classes[0])
    assert (said.class_name == classifier.predict(classes[0])).all()
    assert said.probabilities.shape == (120, 3) and said.mean.shape == (120, 3)
    with pytest.raises(ValueError, match="no intervals"):
        said.interval()


def test_noise_belongs_to_the_row_unless_it_is_the_same(flow, waves):
    model, X = flow.model_, np.repeat(waves[0][:1], 5, axis=0)
    assert len(set(model.predict(X).mean)) == 5
    assert len(set(model.predict(X, same_noise=True).mean)) == 1
    assert model.predict(X).mean[0] == model.predict(X, same_noise=True).mean[0]
    assert (model.predict(X).mean != model.predict(X, seed=1).mean).any()


def test_files(flow, tmp_path):
    flow.save(tmp_path / "a.dgp")
    model = Model.load(tmp_path / "a.dgp")
    assert model == flow.model_ and hash(model) == hash(flow.model_) and model.name == "a.dgp"
    assert pickle.loads(pickle.dumps(model)) == model
    assert repr(model) == f"<Model a.dgp: regression by 2 inputs, {len(model.to_bytes())} bytes>"
    # It may be a copy of a longer region of flash.
    assert Model(model.to_bytes() + bytes(100)) == model


def test_what_is_no_model_is_refused(flow, tmp_path):
    broken = bytearray(flow.to_bytes())
    broken[len(broken) // 2] ^= 1
    (tmp_path / "broken.dgp").write_bytes(broken)
    for source in (tmp_path / "broken.dgp", bytes(broken), b"", b"DGP1", bytes(1000)):
        with pytest.raises(ValueError):
            Model(source)
    with pytest.raises(ValueError, match="broken.dgp: "):
        Model(tmp_path / "broken.dgp")
    with pytest.raises(FileNotFoundError, match="expected a model file"):
        Model(tmp_path / "none.dgp")


def test_inspect_tells_what_the_estimator_knows(flow, classifier):
    facts = flow.model_.inspect()
    assert (facts["bytes"], facts["inputs"], facts["steps"]) == (len(flow.to_bytes()), 2, 3)
    assert sum(part["bytes"] for part in facts["parts"]) == facts["bytes"]
    assert classifier.model_.inspect()["classes"] == ["high", "low", "middle"]
    assert f"in all" in flow.model_.describe()


def test_smaller_models(waves):
    X, y = waves
    whole = DiffGPRegressor(**QUICK | {"inducing": 60}).fit(X, y).model_
    heard = []
    small = whole.compress(X, max_bytes=4000, callback=heard.append)
    assert len(small.to_bytes()) <= 4000 < len(whole.to_bytes())
    assert small.compression_["bytes"] == len(small.to_bytes())
    assert heard[-1]["loss"] == small.compression_["loss"]
    assert small.inspect()["compression"]["original_bytes"] == len(whole.to_bytes())
    assert np.abs(small.predict(X).mean - whole.predict(X).mean).max() < 0.2
    integers = whole.compress(integers=True)
    assert integers.inspect()["arithmetic"] == "integer"
    for sentence, wanted in {
        "no goal; expected some of max_bytes": {},
        "no choice fits.*try mean_only=True": {"max_bytes": 10},
        "core is \"z80\"; expected one of m4f": {"max_bytes": 4000, "core": "z80"},
        "tolerance: expected a number": {"tolerance": -1.0},
    }.items():
        with pytest.raises(ValueError, match=sentence):
            whole.compress(X, **wanted)


def test_c(flow, tmp_path):
    files = flow.model_.to_c("pump.dgp", tmp_path / "c")
    assert sorted(files) == ["diffgp.h", "main.c", "pump.c", "pump.h"]
    assert {file.name: file.read_text() for file in (tmp_path / "c").iterdir()} == files
    array = files["pump.c"].split("{", 1)[1].split("}")[0]
    assert bytes(int(byte, 16) for byte in array.replace(",", " ").split()) == flow.to_bytes()


class Tags(HTMLParser):
    """Whether all that was opened is closed."""

    def __init__(self, html):
        super().__init__()
        self.open, self.seen = [], set()
        self.feed(html)

    def handle_starttag(self, tag, _):
        self.seen.add(tag)
        if tag not in ("meta", "link", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", ["regressor", "flow", "classifier"])
def test_pages(name, request, waves, classes):
    fitted = request.getfixturevalue(name)
    X, y = classes if name == "classifier" else waves
    plain, about = fitted.model_.report(), fitted.model_.report(X, y, described="Rows <held> out")
    for page in (plain, about, fitted.model_._repr_html_()):
        tags = Tags(page)
        assert tags.open == []
        has_picture = page is about or name == "flow"
        assert ("svg" in tags.seen) == has_picture
    assert "Rows &lt;held&gt; out (120 of them)" in about
    assert "explore.html" not in about
    assert "<script" in fitted.model_.explore(X, y)
    with pytest.raises(ValueError, match="X and y, or neither"):
        fitted.model_.report(X)


def test_labels_of_a_page_are_those_of_the_model(classifier, waves):
    with pytest.raises(ValueError, match="'huge' is none of the model's classes, high, low, middle"):
        classifier.model_.report(waves[0], np.full(120, "huge"))
