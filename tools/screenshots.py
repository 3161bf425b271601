"""Takes the pictures of docs/images again: `python -m tools.screenshots`. Needs Chromium and the built samples."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

PROJECT = Path(__file__).resolve().parents[1]
IMAGES = PROJECT / "docs" / "images"
sys.path.insert(0, str(PROJECT))

from tests.live import CHROMIUM_FLAGS, LiveServer, chromium_path, live_server  # noqa: E402

WIDTH, HEIGHT = 1440, 900


def architecture(page: Page) -> None:
    """A text encoder, with one of its attention layers selected."""
    graph = page.frame_locator("iframe[title^='Graph of']")
    expect(graph.locator(".select").first).to_be_visible()
    expect(page.locator(".row[aria-selected='true']")).to_be_visible()


def layers(page: Page) -> None:
    """A network coloured by its work, in graph and table."""
    graph = page.frame_locator("iframe[title^='Graph of']")
    expect(graph.locator("g.graph-node").first).to_be_visible()
    expect(page.locator(".space .row").first).to_be_visible()


def data(page: Page) -> None:
    """Pictures with a box around every digit."""
    expect(page.locator("[data-place] img").nth(5)).to_be_visible()


def activations(page: Page) -> None:
    """What the channels of a convolution make of one handwritten digit."""
    expect(page.locator("canvas").nth(3)).to_be_visible(timeout=120_000)


def overview(page: Page) -> None:
    """A described model."""
    expect(page.locator(".js-plotly-plot").first).to_be_visible()


def consistency(page: Page) -> None:
    """A model whose dropout never stops, traced to its layer."""
    page.get_by_role("button", name="Run the test").click()
    expect(page.get_by_text("First layer that differs").first).to_be_visible(timeout=120_000)
    expect(page.locator(".js-plotly-plot").nth(1)).to_be_visible()


def prediction(page: Page) -> None:
    """A run that needs more memory than it may have."""
    page.get_by_role("button", name="Predict", exact=True).click()
    expect(page.get_by_role("button", name="Run again")).to_be_visible(timeout=120_000)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()


def diagnosis(page: Page) -> None:
    """A network whose accuracy does not move: its cause, its fix, and what the fix gained."""
    page.get_by_role("button", name="Diagnose", exact=True).click()
    expect(page.get_by_text("The fix helps").first).to_be_visible(timeout=150_000)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()


def curves(page: Page) -> None:
    """Six trainings of the sample log, three with a fault that is named and marked."""
    expect(page.get_by_text("3 findings")).to_be_visible(timeout=120_000)
    expect(page.locator("canvas").nth(3)).to_be_visible()


def compare(page: Page) -> None:
    """The same trainings beside each other: what each was given and what it reached."""
    expect(page.get_by_text("What made the difference")).to_be_visible(timeout=120_000)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()


def memory(page: Page) -> None:
    """A sweep over batch sizes: predicted and measured peaks, time per sample."""
    page.get_by_role("button", name="Sweep", exact=True).click()
    expect(page.get_by_text("Worth its memory")).to_be_visible(timeout=240_000)
    expect(page.locator(".js-plotly-plot").nth(1)).to_be_visible()


def devices(page: Page) -> None:
    """Settings that TensorFlow refuses, said before anything runs."""
    expect(page.get_by_role("button", name="Use the nearest settings that run here")).to_be_visible()
    expect(page.locator(".js-plotly-plot").first).to_be_visible()


def planner(page: Page) -> None:
    """What each device holds under each plan, some of which fit."""
    expect(page.locator(".js-plotly-plot").first).to_be_visible()


def convert(page: Page) -> None:
    """A network converted to every target, each run by its runtime."""
    page.get_by_role("button", name="Convert to all").click()
    expect(page.get_by_text("targets converted")).to_be_visible(timeout=240_000)
    expect(page.get_by_text("to come")).to_have_count(0, timeout=240_000)


def parity(page: Page) -> None:
    """An 8-bit conversion and the model it came from, layer by layer."""
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_text("How far the layers are apart")).to_be_visible(timeout=120_000)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()


def latency(page: Page) -> None:
    """Three runtimes and batch sizes: median, p90 and p99 of a call."""
    page.get_by_role("button", name="Take times", exact=True).click()
    expect(page.get_by_text("Times of one call")).to_be_visible(timeout=240_000)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()


def drift(page: Page) -> None:
    """Pictures of digits, half of which have become brighter."""
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_text("Feature to look at")).to_be_visible(timeout=120_000)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()


PICTURES: dict[str, tuple[str, Callable[[Page], None]]] = {
    "activations": ("/activations?model=sample-digits-cnn&layer=strokes", activations),
    "data": ("/data?data=sample-digit-scenes-data", data),
    "layers": ("/architecture?model=sample-digits-cnn&colour=flops&columns=shape,flops,bytes,field", layers),
    "architecture": ("/architecture?model=sample-bert-small&layer=block_0_attention", architecture),
    "overview": ("/?model=sample-digits-cnn", overview),
    "consistency": ("/consistency?model=sample-dropout-at-inference", consistency),
    "compare": ("/training?log=sample-training-runs&tab=compare", compare),
    "convert": ("/convert?model=sample-digits-cnn", convert),
    "curves": ("/training?log=sample-training-runs", curves),
    "diagnosis": ("/diagnosis?model=sample-cancer-softmax-one-unit", diagnosis),
    "devices": ("/devices?model=sample-bert-small&growth=true&card-limit=4GB", devices),
    "drift": ("/drift?model=sample-digits-cnn&reference=sample-digits-before&current=sample-digits-brighter", drift),
    "latency": (
        "/parity?model=sample-digits-cnn&other=sample-digits-cnn-onnx,sample-digits-cnn-int8&look=speed",
        latency,
    ),
    "memory": ("/memory?model=sample-memory-hungry&sizes=1%2C+4%2C+8%2C+12%2C+24&limit=1024", memory),
    "parity": ("/parity?model=sample-digits-cnn&other=sample-digits-cnn-int8", parity),
    "planner": ("/planner?model=sample-bert-small&device=other&device-memory=84MB&devices=8&plan-batch=256", planner),
    "prediction": ("/prediction?model=sample-memory-hungry&limit=512", prediction),
}


def take(page: Page, server: LiveServer, name: str) -> Path:
    """Opens one page, waits for what it shows, and takes its picture without the empty space below."""
    address, prepare = PICTURES[name]
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.goto(server.url + address)
    prepare(page)
    page.mouse.move(WIDTH - 2, HEIGHT // 2)
    page.wait_for_timeout(1_500)
    content = page.locator(".stMainBlockContainer").evaluate(
        "element => element.lastElementChild.getBoundingClientRect().bottom"
    )
    path = IMAGES / f"{name}.png"
    page.screenshot(path=path, clip={"x": 0, "y": 0, "width": WIDTH, "height": min(HEIGHT, round(content) + 24)})
    return path


def main() -> None:
    """Takes the pictures named on the command line, or all of them."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, live_server(Path(folder)) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS)
        expect.set_options(timeout=60_000)
        context = browser.new_context(color_scheme="light", reduced_motion="reduce")
        for name in sys.argv[1:] or PICTURES:
            path = take(context.new_page(), server, name)
            print(f"{path.relative_to(PROJECT)}: {path.stat().st_size // 1024} KiB")
        browser.close()


if __name__ == "__main__":
    main()
