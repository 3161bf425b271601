"""Every conversion: makes of one small model of each format what its runtime loads, or says in a sentence why not; its code runs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from stethoscope.cli.app import app
from stethoscope.compare.convert import all_converters, converter_to
from stethoscope.compare.convert.converter import Options
from stethoscope.compare.parity.precision import precision_of, tolerance
from stethoscope.errors import BadSetting
from stethoscope.models.formats import detect
from stethoscope.types import ModelFile
from tests.compare.convert.sources import answers, converted, opened

CONVERTERS = all_converters()
FORMATS = ("keras", "keras_2", "saved_model", "frozen_graph", "tflite", "onnx")
PAIRS = [
    (target, kind)
    for target in CONVERTERS
    for kind in FORMATS
    if not target.startswith("tflite-") or kind not in ("keras_2", "saved_model", "frozen_graph")
]
"""The precisions of TFLite differ after the trace, which `tflite` makes of every format: Keras alone is enough for them."""
FEED = np.random.default_rng(3).normal(size=(6, 4)).astype(np.float32)
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "convert.md"


def once(pairs):
    """Every target from Keras, every format to two targets; the rest of the table is a sweep."""
    return [
        pair if pair[1] == "keras" or pair[0] in ("onnx", "tflite") else pytest.param(*pair, marks=pytest.mark.sweep)
        for pair in pairs
    ]


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> dict[str, Path]:
    """One model of a few weights in every format, under the name that printed code reads it by."""
    import keras
    import tf_keras

    folder = tmp_path_factory.mktemp("models")
    keras.utils.set_random_seed(4)
    model = keras.Sequential(
        [keras.Input((4,), name="rows"), keras.layers.Dense(48, "gelu"), keras.layers.Dense(3, "softmax", name="kind")]
    )
    old = tf_keras.Sequential(
        [
            tf_keras.layers.Input((4,), name="rows"),
            tf_keras.layers.Dense(48, "relu"),
            tf_keras.layers.Dense(3, "softmax"),
        ]
    )
    model.save(folder / "model.keras")
    old.save(folder / "model.h5")
    found = {"keras": folder / "model.keras", "keras_2": folder / "model.h5"}
    for kind, names in {"keras": ("saved_model", "frozen_graph", "onnx"), "keras_2": ("tflite",)}.items():
        with opened(found[kind], {"rows": FEED}, folder / f"{kind}_scratch") as source:
            for name in names:
                found[name] = converted(CONVERTERS[name], source, folder / name).path
    return found


@pytest.mark.parametrize(("target", "kind"), once(PAIRS))
def test_converts_or_says_why_not(models, target, kind, tmp_path):
    converter, path = CONVERTERS[target], models[kind]
    architecture = detect(ModelFile(path, path.name)).describe(ModelFile(path, path.name))
    if reason := converter.refusal(architecture):
        assert kind in ("tflite", "onnx") or target == kind
        assert reason.endswith(".") and reason[0].isupper() and "\n" not in reason
        return
    name = architecture.inputs[0].name
    with opened(path, {name: FEED}, tmp_path / "source") as source:
        before = source.runner.predict({name: FEED})
        made = converted(converter, source, tmp_path / "made")
        after = answers(made, source, {name: FEED}, tmp_path / "target")
    result = ModelFile.at(made.path)
    allowed = tolerance(precision_of(architecture), precision_of(detect(result).describe(result)))
    assert made.path.suffix == converter.suffix
    assert after.keys() == before.keys()
    for output, values in before.items():
        off = np.sqrt(np.mean((after[output] - values) ** 2) / np.mean(values**2))
        assert off <= allowed.nrmse, f"{off:.2g} in {allowed.precision}"


@pytest.mark.parametrize(("target", "kind"), once(pair for pair in PAIRS if pair[1] != "onnx"))
def test_its_code_runs_as_it_stands(models, target, kind, tmp_path, monkeypatch):
    converter, path = CONVERTERS[target], models[kind]
    architecture = detect(ModelFile(path, path.name)).describe(ModelFile(path, path.name))
    if converter.refusal(architecture):
        return
    monkeypatch.chdir(tmp_path)
    if path.is_dir():
        shutil.copytree(path, "folder")
    else:
        shutil.copyfile(path, {"frozen_graph": "model.pb"}.get(kind, path.name))
    np.savez("data.npz", x=FEED)
    code = converter.code(architecture, Options(calibration_rows=6))
    exec(compile(code, f"{target} of {kind}", "exec"), {})
    made = Path("saved_model" if target == "saved_model" else f"model{converter.suffix}").resolve()
    file = ModelFile(made, made.name)
    (tmp_path / "scratch").mkdir()
    with detect(file).open(file, tmp_path / "scratch", trusted=True) as runner:
        assert runner.predict({runner.inputs[0].name: FEED[:1]})


def test_each_is_found_by_its_name_and_explains_itself():
    for target, converter in CONVERTERS.items():
        assert converter_to(target) is converter
        assert converter.title and converter.about.endswith(".")
        assert converter.suffix.startswith(".") or converter.suffix == ""
        assert set(converter.options) <= set(Options().to_json())
    with pytest.raises(BadSetting, match=r"coreml.*one of onnx"):
        converter_to("coreml")


def test_the_command_and_the_document_name_each():
    shown = CliRunner().invoke(app, ["convert", "--help"], env={"COLUMNS": "1000"}).output
    for target in CONVERTERS:
        assert re.search(rf"[ ,]{target}[,.]", shown), "the help of --to"
        assert f"| `{target}` |" in DOCUMENT.read_text(), "name it in docs/convert.md"
