"""What the command does and what Python does is the same, to the byte."""

import json

import numpy as np
import pandas as pd
import pytest

from diffgp import DiffGPClassifier, DiffGPRegressor, Model


def table(folder, columns):
    frame = pd.DataFrame(columns)
    frame.to_csv(folder / "data.csv", index=False)
    # Numbers are written with all their digits: what the command reads is what is here.
    return frame


def numbers():
    random = np.random.default_rng(7)
    X = random.uniform(-2, 2, (80, 2))
    return {"angle": X[:, 0], "load": X[:, 1], "force": np.sin(X[:, 0]) + 0.1 * random.normal(size=80)}


CASES = {
    "defaults but for the iterations": ({"max_iter": 8}, ["--iterations", 8]),
    "a flow and many options": (
        {
            "flow_time": 2.5,
            "steps": 4,
            "kernel": "matern52",
            "max_iter": 6,
            "inducing": 20,
            "flow_inducing": 10,
            "batch_size": 30,
            "paths": 2,
            "validation_fraction": 0.2,
            "shared_kernel": True,
            "calibration": "table",
            "random_state": 11,
            "n_jobs": 1,
        },
        "--flow-time 2.5 --steps 4 --kernel matern52 --iterations 6 --inducing 20 --flow-inducing 10 --batch 30 "
        "--paths 2 --validation 0.2 --shared-kernel --calibration table --seed 11 --threads 1".split(),
    ),
}


@pytest.mark.parametrize("parameters, flags", CASES.values(), ids=CASES)
def test_the_same_bytes_of_model(command, tmp_path, parameters, flags):
    frame = table(tmp_path, numbers())
    command("train", tmp_path / "data.csv", "--target", "force", "--out", tmp_path / "m.dgp", *flags)
    gp = DiffGPRegressor(**parameters).fit(frame[["angle", "load"]], frame["force"])
    assert gp.to_bytes() == (tmp_path / "m.dgp").read_bytes()


def test_the_same_bytes_of_classes_and_of_several_targets(command, tmp_path):
    columns = numbers()
    columns["kind"] = np.where(columns["force"] > 0, "up", "down")
    frame = table(tmp_path, columns)
    common = [tmp_path / "data.csv", "--out", tmp_path / "m.dgp", "--iterations", 5, "--inducing", 10, "--flow-time", 0]
    parameters = {"max_iter": 5, "inducing": 10, "flow_time": 0}
    command("train", "--target", "kind", "--ignore", "force", *common)
    gp = DiffGPClassifier(**parameters).fit(frame[["angle", "load"]], frame["kind"])
    assert gp.to_bytes() == (tmp_path / "m.dgp").read_bytes()
    command("train", "--target", "force,load", "--ignore", "kind", "--force", *common)
    gp = DiffGPRegressor(**parameters).fit(frame[["angle"]], frame[["force", "load"]])
    assert gp.to_bytes() == (tmp_path / "m.dgp").read_bytes()


def test_the_same_figures_predictions_and_files(command, tmp_path, flow, waves):
    path = tmp_path / "flow.dgp"
    flow.save(path)
    model = Model(path)
    assert model.inspect() == json.loads(command("inspect", path, "--json"))
    assert command("inspect", path).startswith(model.describe())
    command("export", path, "--c", tmp_path / "c")
    assert {file.name: file.read_text() for file in (tmp_path / "c").iterdir()} == model.to_c()

    frame = table(tmp_path, {"a": waves[0][:, 0], "b": waves[0][:, 1]})
    for flags, options in ([], {}), (["--deterministic"], {"n_paths": 0}), (["--seed", 3, "--paths", 9], {"n_paths": 9, "seed": 3}):
        printed = json.loads(command("predict", path, tmp_path / "data.csv", "--json", *flags))
        said = model.predict(frame, **options)
        low, high = said.interval(0.9)
        for name, column in {"mean": said.mean, "variance": said.variance, "low_90": low, "high_90": high}.items():
            assert (np.float32(printed[name]) == column.astype(np.float32)).all(), name

    command("compress", path, "--data", tmp_path / "full.csv", "--max-bytes", 1200, "--out", tmp_path / "small.dgp", expected=2)
    pd.DataFrame({"a": waves[0][:, 0], "b": waves[0][:, 1], "y": waves[1]}).to_csv(tmp_path / "full.csv", index=False)
    command("compress", path, "--data", tmp_path / "full.csv", "--target", "y", "--tolerance", 0.05, "--out", tmp_path / "small.dgp")
    assert model.compress(frame, tolerance=0.05).to_bytes() == (tmp_path / "small.dgp").read_bytes()


def test_the_same_sentences(command, tmp_path):
    columns = numbers() | {"far": 1.7e9 + 0.1 * np.arange(80.0)}
    frame = table(tmp_path, columns)
    said = command("train", tmp_path / "data.csv", "--target", "force", "--out", tmp_path / "m.dgp", expected=2)
    with pytest.raises(ValueError) as refused:
        DiffGPRegressor().fit(frame[["angle", "load", "far"]], frame["force"])
    assert str(refused.value) in said
    (tmp_path / "broken.dgp").write_bytes(b"DGP")
    said = command("inspect", tmp_path / "broken.dgp", expected=2)
    with pytest.raises(ValueError) as refused:
        Model(tmp_path / "broken.dgp")
    assert said.strip() == f"error: {refused.value}"


def test_a_model_of_words_reads_the_columns_of_a_frame(command, tmp_path):
    columns = numbers()
    columns["colour"] = [["red", "blue", "green"][row % 3] for row in range(80)]
    columns["state"] = [["on", "off"][row % 2] for row in range(80)]
    frame = table(tmp_path, columns)
    command("train", tmp_path / "data.csv", "--target", "force", "--out", tmp_path / "m.dgp", "--iterations", 8)
    told = json.loads(command("predict", tmp_path / "m.dgp", tmp_path / "data.csv", "--json"))
    model = Model(tmp_path / "m.dgp")
    assert model.input_names == ["angle", "load", "colour=blue", "colour=green", "colour=red", "state=off|on"]
    assert np.array_equal(model.predict(frame).mean.astype(np.float32), np.float32(told["mean"]))
    frame.loc[7, "colour"] = "violet"
    with pytest.raises(ValueError, match="row 7, column 'colour': 'violet' is none of the words"):
        model.predict(frame)
