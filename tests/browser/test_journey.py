"""From upload to a first answer, as a person does it."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import expect

BUILT = Path(__file__).resolve().parents[2] / "sample_models" / "built"
SAMPLES = {
    entry["id"]: entry for entry in json.loads((BUILT / "manifest.json").read_text()) if entry.get("kind") != "data"
}
FRAMEWORKS = ("libtensorflow", "_pywrap_tensorflow", "onnxruntime", "ai_edge_litert", "/keras/", "tf_keras")


def test_a_first_visit_offers_upload_and_samples(visit):
    page = visit().go()
    expect(page.get_by_text("Drop a model here")).to_be_visible()
    expect(page.get_by_role("heading", name="Or try a sample")).to_be_visible()
    expect(page.get_by_text(SAMPLES["digits_cnn"]["title"], exact=True).first).to_be_visible()


@pytest.mark.parametrize(
    "name",
    [
        "digits_cnn",
        "cancer_keras2",
        "diabetes_saved_model",
        "digits_cnn_tflite",
        "digits_cnn_onnx",
        "digits_cnn_frozen",
    ],
)
def test_each_format_is_uploaded_described_and_drawn(visit, name):
    entry = SAMPLES.get(name) or next(e for e in SAMPLES.values() if e["file"].startswith(name))
    visitor = visit()
    page = visitor.upload(BUILT / entry["file"])
    expect(page.get_by_text(f"{entry['parameters']:,}").first).to_be_visible()
    visitor.go(f"/architecture?model={visitor.model_id()}")
    graph = page.frame_locator("iframe[src*='netron']")
    expect(graph.locator("g.node").first).to_be_visible()


def test_a_savedmodel_folder_is_uploaded_as_it_is(visit, tmp_path):
    with zipfile.ZipFile(BUILT / "diabetes_saved_model.zip") as archive:
        archive.extractall(tmp_path / "my_model")
    (folder,) = {path.parent for path in (tmp_path / "my_model").rglob("saved_model.pb")}
    visitor = visit()
    page = visitor.go()
    page.locator("input.pick-folder").set_input_files(str(folder))
    page.wait_for_url("**model=*")
    expect(page.get_by_text("1,441").first).to_be_visible()


def test_an_unsteady_model_is_traced_to_its_layer(visit):
    visitor = visit()
    page = visitor.go("/consistency?model=sample-dropout-at-inference")
    page.get_by_role("button", name="Run the test").click()
    expect(page.get_by_text("always_on_dropout").first).to_be_visible(timeout=90_000)
    expect(page).to_have_url(re.compile("job="))


def test_too_much_memory_is_a_report_and_the_app_lives_on(visit, server):
    visitor = visit()
    page = visitor.go("/prediction?model=sample-memory-hungry&limit=512&batch=32")
    page.get_by_role("button", name="Predict").click()
    expect(page.get_by_text(re.compile("out of memory|ran out|needs more memory", re.IGNORECASE)).first).to_be_visible(
        timeout=120_000
    )
    assert server.healthy()


def test_a_prediction_shows_its_result_and_offers_it(visit):
    page = visit().go("/prediction?model=sample-digits-cnn&samples=8&batch=4")
    page.get_by_role("button", name="Predict").click()
    expect(page.get_by_text(re.compile("peak memory", re.IGNORECASE)).first).to_be_visible(timeout=90_000)
    expect(page.get_by_text(re.compile("download", re.IGNORECASE)).first).to_be_visible()


def test_a_link_opens_the_same_view_for_a_colleague_and_lists_stay_apart(visit):
    ann, bob = visit(), visit()
    page = ann.upload(BUILT / SAMPLES["digit_pairs"]["file"])
    expect(page.get_by_text("7,458").first).to_be_visible()
    bob.go(f"/overview?model={ann.model_id()}")
    expect(bob.page.get_by_text("7,458").first).to_be_visible()
    bob.go()
    expect(bob.page.get_by_text("Drop a model here")).to_be_visible()
    expect(bob.page.get_by_text("Your recent models")).to_have_count(0)


def test_an_unknown_model_is_a_kind_sentence(visit):
    page = visit().go("/overview?model=AAAAAAAAAAAAAAAAAAAAAA")
    expect(page.get_by_text("Drop a model here")).to_be_visible()
    expect(page.get_by_text("Traceback")).to_have_count(0)


def test_a_hostile_name_is_text_wherever_it_is_shown(visit, tmp_path):
    name = "![x](http:__evil.invalid_x.png)<img src=x onerror=alert(1)>.keras"
    (tmp_path / name).write_bytes((BUILT / SAMPLES["digit_pairs"]["file"]).read_bytes())
    visitor = visit()
    page = visitor.upload(tmp_path / name)
    expect(page.get_by_text("7,458").first).to_be_visible()
    assert page.locator("img[src='x']").count() == 0


def test_what_is_not_a_model_is_declined_in_words(visit, tmp_path):
    (tmp_path / "login.keras").write_text("<html><body>Please log in</body></html>")
    page = visit().upload(tmp_path / "login.keras")
    expect(page.get_by_text(re.compile("HTML page")).first).to_be_visible()


def test_the_server_process_has_no_framework_after_all_of_this(visit, server):
    visit().go("/architecture?model=sample-digits-cnn").wait_for_timeout(1000)
    mapped = server.mapped_libraries()
    assert not [name for name in FRAMEWORKS if name in mapped]
