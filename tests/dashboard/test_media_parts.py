"""Histograms and images of a log, as the page draws them."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

from dashboard import progress
from dashboard.training import followed, log_choice, media_figures
from stethoscope.jobs.store import store
from stethoscope.tasks.read_media import common_edges
from tests.dashboard.visiting import HOSTILE, ME, drawn, open_page, settle, text
from tests.logs.event_writing import encode_bytes, event, tensor, write_events
from tests.logs.test_media_values import dims, doubles, png


def uploaded(tmp_path):
    """A log of two runs with histograms, the last of one without a number, images and texts."""
    for run, steps in (("a", 3), ("b", 5)):
        written = []
        for step in range(steps):
            rows = [] if (run, step) == ("b", 4) else [[step, step + 1, 7], [step + 1, step + 2, 1]]
            buckets = tensor("w", 2, encode_bytes(4, doubles(rows)), "histograms", dims(len(rows), 3))
            texts = b"".join(encode_bytes(8, one) for one in (b"4", b"4", png(4, 4)))
            said = tensor("t", 7, encode_bytes(8, HOSTILE.encode()), "text", dims(1))
            curve = tensor("p", 2, encode_bytes(4, doubles(np.linspace(0, 1, 24))), "pr_curves", dims(6, 4))
            written.append(event(step * 10, buckets, tensor("i", 7, texts, "images", dims(3)), said, curve))
        write_events(tmp_path / "logs" / run, written)
    packed = tmp_path / "logs.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted((tmp_path / "logs").rglob("*tfevents*")):
            archive.write(path, path.relative_to(tmp_path / "logs").as_posix())
    return store().add_file(packed, "runs.zip", ME)


@pytest.fixture
def visit(app, engine, tmp_path, monkeypatch):
    for module in (followed, log_choice, progress):
        monkeypatch.setattr(module, "engine", lambda: engine)
    entry = uploaded(tmp_path)

    def opened(tab, **params):
        return settle(open_page(app, "training", log=entry.id, tab=tab, **params))

    yield opened
    followed.forget_all()


def chosen(app, label):
    return next(one for one in (*app.selectbox, *app.multiselect) if one.label == label)


def test_histograms_are_drawn_for_the_runs_in_the_link(visit):
    app = visit("histograms", **{"media-runs": "a,b"})
    assert chosen(app, "Runs").value == ["a", "b"]
    assert len(app.get("plotly_chart")) == 4
    assert "single number" in text(app)
    chosen(app, "Picture").select("ridges")
    app = settle(app)
    assert len(app.get("plotly_chart")) == 2
    assert app.query_params["hist-view"] == "ridges"


def test_images_follow_the_step_in_the_link(visit):
    app = visit("images", **{"media-runs": "a,b", "media-step": "30"})
    (slider,) = app.select_slider
    assert slider.value == 30
    assert "from step 20" in text(app), "run a ended before"
    assert len(app.get("image")) == 2


def test_texts_are_shown_as_they_are(visit):
    app = visit("texts")
    assert [one.value for one in app.code] == [HOSTILE]
    assert HOSTILE not in drawn(app)


def test_precision_is_drawn_against_recall(visit):
    app = visit("precision–recall", **{"media-runs": "a,b"})
    assert len(app.get("plotly_chart")) == 1


def test_a_link_to_runs_and_steps_that_are_gone_shows_what_there_is(visit):
    app = visit("images", **{"media-runs": "gone", "media-step": "x", "image-tag": "no"})
    assert app.select_slider[0].value == 20
    assert len(app.get("image")) == 1


def steps_of(histograms):
    edges = common_edges(histograms, 8)
    return media_figures.Steps.of(
        range(len(histograms)), [f"step {at}" for at in range(len(histograms))], histograms, edges
    )


def test_the_newest_ridge_is_in_front_and_nan_is_marked(monkeypatch):
    histograms = [np.array([[float(at), at + 1.0, 1.0]]) for at in range(4)] + [np.empty((0, 3))]
    figure = media_figures.ridges(steps_of(histograms), "Step")
    assert [one.name for one in figure.data[:5]] == [f"step {at}" for at in range(5)]
    assert list(figure.data[-1].y) == [4]
    low, high = figure.layout.yaxis.range
    assert low > 4 > 0 > high, "time runs down the page, and the first ridge has room"


def test_the_heat_map_shows_shares_and_the_median():
    histograms = [np.array([[0.0, 1.0, 10.0]]), np.array([[0.0, 1.0, 1.0], [7.0, 8.0, 3.0]])]
    figure = media_figures.heat_map(steps_of(histograms), "Step")
    colour, median = figure.data
    assert np.nansum(colour.z, axis=0).tolist() == pytest.approx([100, 100])
    assert 0 < median.y[0] < 1
    assert 7 < median.y[1] < 8


def test_many_steps_do_not_become_as_many_ridges():
    histograms = [np.array([[0.0, 1.0, 1.0]])] * 500
    assert len(media_figures.ridges(steps_of(histograms), "Step").data) == media_figures.RIDGES
