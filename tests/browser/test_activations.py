"""The page Activations in a browser: choosing layers and samples by clicking, and every view's picture."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import step

DIGITS = "/activations?model=sample-digits-cnn"
COLOURS = """() => { const host = [...document.querySelectorAll('*')].flatMap((one) => [one, ...(one.shadowRoot ? one.shadowRoot.querySelectorAll('*') : [])]);
const canvas = host.find((one) => one.matches('.map canvas'));
const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
return new Set(Array.from({ length: data.length / 4 }, (_, at) => data.slice(4 * at, 4 * at + 3).join())).size; }"""


def maps(page: Page):
    return page.locator(".maps .map")


def samples(page: Page):
    return page.locator(".strip .one")


def choose_layer(page: Page, name: str) -> None:
    page.locator(".space .row", has_text=name).first.click()
    expect(page).to_have_url(re.compile(f"layer={name}"))


def look(page: Page, name: str) -> None:
    """Chooses another view of the same layer and sample."""
    page.get_by_role("radio", name=name).or_(page.get_by_role("button", name=name)).first.click()


def test_layers_and_samples_are_chosen_kept_compared_and_explained_by_clicking(visit):
    visitor = visit()
    page = visitor.go(DIGITS)

    step("maps are drawn in colours")
    expect(maps(page)).to_have_count(16)
    assert page.evaluate(COLOURS) > 10

    step("two samples are compared after a Shift-click")
    samples(page).nth(5).click(modifiers=["Shift"])
    expect(page).to_have_url(re.compile("places=0"))
    look(page, "Compare")
    expect(page.get_by_text("16 channels that differ")).to_be_visible()
    expect(maps(page)).to_have_count(48)

    step("a layer, a sample and a channel are chosen by clicking, and stay")
    look(page, "Feature maps")
    choose_layer(page, "strokes")
    samples(page).nth(3).click()
    expect(page).to_have_url(re.compile("places=3(&|$)"))
    expect(samples(page).nth(3)).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("row 3 (8)")).to_be_visible()
    expect(maps(page)).to_have_count(32)
    maps(page).nth(1).click()
    expect(page.get_by_text(re.compile(r"^Channel \d+$"))).to_be_visible()
    expect(page).to_have_url(re.compile("map=0"))
    page.reload()
    expect(page.get_by_text(re.compile(r"^Channel \d+$"))).to_be_visible()

    step("layers are kept beside each other")
    page.get_by_role("button", name="Keep beside others").click()
    expect(page).to_have_url(re.compile("kept="))
    choose_layer(page, "edges")
    expect(maps(page)).to_have_count(48)

    step("attributions lie over the sample")
    page = visitor.go(f"{DIGITS}&look=why&places=3")
    expect(page.get_by_text("class 8")).to_be_visible()
    expect(page.locator("canvas.heat")).to_be_visible()
    page.goto(page.url + "&method=integrated_gradients")
    expect(page.get_by_text("% missing")).to_be_visible()
    page.locator("canvas.heat").hover(position={"x": 150, "y": 150})
    expect(page.locator(".tip")).to_contain_text("about")


@pytest.mark.parametrize(
    ("model", "views"),
    [
        ("sample-bert-small", {"attention": "Head 0", "why": "by their numbers"}),
        ("sample-reviews-lstm", {"values": "standard deviation"}),
        ("sample-digits-cnn-tflite", {"why": "only occlusion works"}),
        ("sample-digits-cnn-onnx", {"maps": "16 channels"}),
        ("sample-diabetes-saved-model", {"why": "% missing"}),
        ("sample-digits-cnn", {"projection": "of the variance", "similarity": "pairs above"}),
    ],
)
def test_every_kind_of_model_has_its_picture(visit, model, views):
    visitor = visit()
    for view, said in views.items():
        step(view)
        page = visitor.go(f"/activations?model={model}&look={view}")
        expect(page.get_by_text(said).first).to_be_visible()
        if view in ("attention", "values", "projection", "similarity"):
            expect(page.locator(".js-plotly-plot").first).to_be_visible()
    if model != "sample-digits-cnn":
        return

    step("statistics lead to units and the samples that excite them")
    look(page, "Statistics")
    page.get_by_role("button", name="Run the statistics").click()
    expect(page.get_by_text("over 64 rows").first).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(3)
    expect(page.get_by_text("Samples that excite")).to_be_visible()
    expect(page.locator(".strip")).to_have_count(2)
