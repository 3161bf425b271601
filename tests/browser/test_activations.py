"""The page Activations in a browser: choosing layers and samples by clicking, and every view's picture."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

DIGITS = "/activations?model=sample-digits-cnn"


def maps(page: Page):
    return page.locator(".maps .map")


def samples(page: Page):
    return page.locator(".strip .one")


def choose_layer(page: Page, name: str) -> None:
    page.locator(".space .row", has_text=name).first.click()
    expect(page).to_have_url(re.compile(f"layer={name}"))


def test_a_layer_and_a_sample_are_chosen_by_clicking(visit):
    page = visit().go(DIGITS)
    expect(maps(page)).to_have_count(16)
    choose_layer(page, "strokes")
    expect(maps(page)).to_have_count(32)
    samples(page).nth(3).click()
    expect(page).to_have_url(re.compile("places=3"))
    expect(samples(page).nth(3)).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("row 3 (8)")).to_be_visible()
    maps(page).nth(1).click()
    expect(page.get_by_text(re.compile(r"^Channel \d+$"))).to_be_visible()
    expect(page).to_have_url(re.compile("map=0"))
    page.reload()
    expect(page.get_by_text(re.compile(r"^Channel \d+$"))).to_be_visible()


def test_layers_are_kept_beside_each_other(visit):
    page = visit().go(DIGITS)
    expect(maps(page)).to_have_count(16)
    page.get_by_role("button", name="Keep beside others").click()
    expect(page).to_have_url(re.compile("kept="))
    choose_layer(page, "strokes")
    expect(maps(page)).to_have_count(48)


def test_maps_are_drawn_in_colours(visit):
    page = visit().go(DIGITS)
    expect(maps(page)).to_have_count(16)
    seen = page.evaluate(
        """() => { const host = [...document.querySelectorAll('*')].flatMap((one) => [one, ...(one.shadowRoot ? one.shadowRoot.querySelectorAll('*') : [])]);
        const canvas = host.find((one) => one.matches('.map canvas'));
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        return new Set(Array.from({ length: data.length / 4 }, (_, at) => data.slice(4 * at, 4 * at + 3).join())).size; }"""
    )
    assert seen > 10


def test_two_samples_are_compared_after_a_shift_click(visit):
    page = visit().go(DIGITS)
    expect(maps(page)).to_have_count(16)
    samples(page).nth(5).click(modifiers=["Shift"])
    expect(page).to_have_url(re.compile("places=0"))
    page.get_by_role("radio", name="Compare").or_(page.get_by_role("button", name="Compare")).first.click()
    expect(page.get_by_text("The 16 channels that differ most")).to_be_visible()
    expect(maps(page)).to_have_count(48)


def test_attributions_lie_over_the_sample(visit):
    page = visit().go(f"{DIGITS}&look=why&places=3")
    expect(page.get_by_text("class 8")).to_be_visible()
    expect(page.locator("canvas.heat")).to_be_visible()
    page.goto(page.url + "&method=integrated_gradients")
    expect(page.get_by_text("% missing")).to_be_visible()
    page.locator("canvas.heat").hover(position={"x": 150, "y": 150})
    expect(page.locator(".tip")).to_contain_text("about")


@pytest.mark.parametrize(
    ("model", "view", "said"),
    [
        ("sample-bert-small", "attention", "Head 0"),
        ("sample-bert-small", "why", "Tokens are shown by their numbers"),
        ("sample-reviews-lstm", "values", "standard deviation"),
        ("sample-digits-cnn-tflite", "why", "only occlusion works"),
        ("sample-digits-cnn-onnx", "maps", "16 channels"),
        ("sample-diabetes-saved-model", "why", "% missing"),
        ("sample-digits-cnn", "projection", "of the variance"),
        ("sample-digits-cnn", "similarity", "pairs above"),
    ],
)
def test_every_kind_of_model_has_its_picture(visit, model, view, said):
    page = visit().go(f"/activations?model={model}&look={view}")
    expect(page.get_by_text(said).first).to_be_visible()
    if view in ("attention", "values", "projection", "similarity"):
        expect(page.locator(".js-plotly-plot").first).to_be_visible()


def test_statistics_lead_to_units_and_the_samples_that_excite_them(visit):
    page = visit().go(f"{DIGITS}&look=statistics")
    page.get_by_role("button", name="Run the statistics").click()
    expect(page.get_by_text("over 64 rows").first).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(3)
    expect(page.get_by_text("Samples that excite a unit most")).to_be_visible()
    expect(page.locator(".strip")).to_have_count(2)
