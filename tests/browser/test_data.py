"""Data in a real browser: dropped, seen with its marks, opened large, heard; data to try."""

from __future__ import annotations

import io
import json
import re
import wave
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.drawing import choose
from tests.browser.steps import step
from tests.browser.stored import put

CARD = "article.card"
LINES = ".picture svg rect.line"


def png(size=(40, 20), colour=(250, 250, 250)) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", size, colour).save(content, "PNG")
    return content.getvalue()


def annotated(path: Path) -> Path:
    """Three images with boxes of two classes, and an area."""
    annotations = {
        "images": [{"id": at, "file_name": f"{at}.png", "width": 40, "height": 20} for at in range(3)],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "<b>dog</b>"}],
        "annotations": [
            {
                "id": 1,
                "image_id": 0,
                "category_id": 1,
                "bbox": [10, 5, 20, 10],
                "area": 200,
                "iscrowd": 0,
                "segmentation": [],
            },
            {
                "id": 2,
                "image_id": 1,
                "category_id": 2,
                "bbox": [0, 0, 10, 10],
                "area": 100,
                "iscrowd": 0,
                "segmentation": [],
            },
            {
                "id": 3,
                "image_id": 1,
                "category_id": 1,
                "bbox": [0, 0, 20, 20],
                "area": 400,
                "iscrowd": 1,
                "segmentation": {"size": [20, 40], "counts": [0, 400, 400]},
            },
        ],
    }
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("annotations.json", json.dumps(annotations))
        for at in range(3):
            made.writestr(f"{at}.png", png())
    return path


def tone(path: Path) -> Path:
    """One second of a tone."""
    with wave.open(str(path), "wb") as made:
        made.setnchannels(1)
        made.setsampwidth(2)
        made.setframerate(8_000)
        made.writeframes((np.sin(np.arange(8_000) / 5) * 9_000).astype("<i2").tobytes())
    return path


def dropped(visitor, path: Path) -> Page:
    page = visitor.go("/data")
    # The zone has its title once it listens.
    expect(page.get_by_text("Drop data here")).to_be_visible()
    page.locator("input.pick-files").set_input_files(str(path))
    page.wait_for_url("**data=*")
    return page


def box_of(page: Page, selector: str) -> dict[str, float]:
    return page.locator(selector).first.bounding_box()


def test_annotated_images_are_dropped_seen_with_their_marks_and_opened_large(visit, tmp_path):
    page = dropped(visit(charts=False), annotated(tmp_path / "annotated.zip"))

    step("boxes lie where they should")
    expect(page.locator(CARD)).to_have_count(3)
    expect(page.get_by_text("COCO annotations")).to_be_visible()
    expect(page.locator(LINES).first).to_be_visible()
    picture, line = box_of(page, ".picture"), box_of(page, LINES)
    assert line["x"] == pytest.approx(picture["x"] + picture["width"] * 10 / 40, abs=2.5)
    assert line["y"] == pytest.approx(picture["y"] + picture["height"] * 5 / 20, abs=2.5)
    assert line["width"] == pytest.approx(picture["width"] / 2, abs=4)
    assert page.locator(".picture img").first.evaluate("image => image.decode().then(() => image.naturalWidth)") == 40

    step("names are text, areas are painted")
    expect(page.locator("button.chip", has_text="<b>dog</b>")).to_be_visible()
    painted = "canvas => canvas.width && canvas.getContext('2d').getImageData(5, 5, 1, 1).data[3] > 0"
    page.wait_for_function(
        f"() => {{ const all = [...document.querySelectorAll('*')].map((one) => one.shadowRoot).filter(Boolean); "
        f"return [document, ...all].some((root) => [...root.querySelectorAll('canvas.over')].some({painted})); }}"
    )

    step("a sample opens large and arrows lead on")
    page.locator(CARD).first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_url("**place=1*")
    expect(page.get_by_text("row 1, of 3")).to_be_visible()
    expect(page.locator(".samples.large .picture")).to_have_count(1)
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**place=2*")
    expect(page.get_by_text("row 2, of 3")).to_be_visible()
    page.get_by_role("button", name="All samples").click()
    expect(page.locator(CARD)).to_have_count(3)
    expect(page).not_to_have_url(re.compile("place="))

    step("a class is hidden, and the link says so")
    # The crowd of cats has a box and an area.
    expect(page.locator(LINES)).to_have_count(3)
    page.locator("button.chip", has_text="dog").click()
    expect(page.locator(LINES)).to_have_count(2)
    page.wait_for_url("**hide=*")
    page.reload()
    expect(page.locator(CARD)).to_have_count(3)
    expect(page.locator(LINES)).to_have_count(2)

    step("all marks are hidden")
    page.locator(".marks-on").uncheck()
    expect(page.locator(".picture svg")).to_have_count(0)


def test_rows_tables_sounds_and_the_data_of_a_sample_are_seen(visit, server, tmp_path):
    visitor = visit(charts=False)

    step("rows are narrowed to a class")
    digits = tmp_path / "digits.npz"
    np.savez(digits, x=np.random.default_rng(0).random((60, 8, 8, 1), np.float32), y=np.arange(60) % 3)
    page = visitor.go(f"/data?data={put(server, digits)}")
    expect(page.get_by_text("1–24 of 60 rows")).to_be_visible()
    choose(page, "Class", "2", exact=True)
    expect(page.get_by_text("1–20 of 20 rows")).to_be_visible()
    expect(page.locator(CARD)).to_have_count(20)
    expect(page).to_have_url(re.compile("class=2"))

    step("a table is shown as one")
    table = tmp_path / "t.csv"
    table.write_text("size,colour,kind\n" + "1,red,yes\n2,blue,no\n" * 30)
    page = visitor.go(f"/data?data={put(server, table)}")
    expect(page.get_by_text("CSV table")).to_be_visible()
    expect(page.get_by_test_id("stDataFrame").first).to_be_visible()

    step("a table that is dropped where models go is known by its content")
    tabs = tmp_path / "t.tab"
    tabs.write_text(table.read_text().replace(",", "\t"))
    page = visitor.go("/")
    page.get_by_role("group", name="Drop a model").get_by_text("Up to").wait_for()
    page.locator("input.pick-files").set_input_files(str(tabs))
    page.wait_for_url("**/data?**data=*")
    expect(page.get_by_text("CSV table")).to_be_visible()

    step("a sound can be played")
    page = visitor.go(f"/data?data={put(server, tone(tmp_path / 'tone.wav'))}")
    sound = page.locator("audio.sound")
    expect(sound).to_have_count(1)
    duration = sound.evaluate(
        "one => new Promise((done) => { one.onloadedmetadata = () => done(one.duration); one.onerror = () => done(-1); one.load(); one.preload = 'auto'; })"
    )
    assert duration == pytest.approx(1.0, abs=0.05)

    step("the data of a sample model is one click away, and comes along")
    page = visitor.go("/data?model=sample-digits-cnn-keras3")
    page.get_by_role("button", name="Open it").click()
    expect(page.locator(CARD)).to_have_count(24)
    expect(page).to_have_url(re.compile("data=with-model"))
    visitor.turn_to("Prediction")
    expect(page.get_by_role("button", name="Predict", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("data=with-model"))
