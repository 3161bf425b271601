"""The running app when things break under it: workers killed, browsers gone, the server killed, the disk full."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from playwright.sync_api import BrowserContext, expect

from benchmarks.http_upload import begin, new_browser
from tests.browser.conftest import Visitor, somebody_new, without_charts
from tests.browser.steps import step
from tests.browser.stored import partial_files, put
from tests.live import LiveServer, free_port, live_server
from tests.processes import ended_within, gone
from tests.small_models import endless_onnx, hungry_onnx, tiny_onnx
from tests.waiting import until

MIB = 1 << 20
PEOPLE = 10
LEFT = {"final.json", "out"}
_scales = itertools.count(2)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")


def fresh_model(app: LiveServer, folder: Path) -> str:
    """A small model that was never seen before: nothing about it is reused."""
    scale = next(_scales)
    return put(app, tiny_onnx(folder / f"tiny-{scale}.onnx", scale))


def _is_server(process: psutil.Process) -> bool:
    """One that was just killed and is not reaped yet is none."""
    with contextlib.suppress(psutil.NoSuchProcess):  # ZombieProcess is one
        return "stethoscope.jobs.worker.server" in process.cmdline()
    return False


def servers(app: LiveServer) -> list[psutil.Process]:
    """The worker servers: light first, then TensorFlow's."""
    found = [child for child in psutil.Process(app.process.pid).children() if _is_server(child)]
    return sorted(found, key=lambda child: "tensorflow" in child.cmdline())


def workers(app: LiveServer) -> list[psutil.Process]:
    return [child for server in servers(app) for child in server.children()]


def descriptors(app: LiveServer) -> tuple[int, int]:
    """Open descriptors of the server: files and pipes; sockets and event loops."""
    found = [0, 0]
    for path in Path(f"/proc/{app.process.pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found[str(path.readlink()).startswith(("socket:", "anon_inode:"))] += 1
    return found[0], found[1]


def endings(app: LiveServer) -> dict[str, Any]:
    """Every job that has ended, by id."""
    found = (app.workspace / "jobs").glob("*/final.json")
    return {path.parent.name: json.loads(path.read_text()) for path in found}


@contextmanager
def health_watched(app: LiveServer) -> Iterator[list[float]]:
    """Asks for health all the time; every answer must come."""
    waits: list[float] = []
    missed: list[str] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.1):
            start = time.perf_counter()
            if not app.healthy(60):
                missed.append(f"after {time.perf_counter() - start:.1f} s")
            waits.append(time.perf_counter() - start)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield waits
    finally:
        done.set()
        watcher.join()
    assert not missed, missed


def model_run_by(worker: psutil.Process) -> str | None:
    """The file that this worker predicts with, by the job in the folder it is in."""
    try:
        job = json.loads((Path(worker.cwd()) / "job.json").read_text())
    except (psutil.Error, OSError, ValueError):
        return None
    return job["files"]["model"][1] if job["kind"] == "predict" else None


def predicting(app: LiveServer, model: str) -> list[psutil.Process]:
    return [worker for worker in workers(app) if model_run_by(worker) == model]


def start_endless(visitor: Visitor, folder: Path) -> psutil.Process:
    """Starts a prediction that never ends from its page; returns its worker once the page shows it running."""
    model = endless_onnx(folder / f"endless-{next(_scales)}.onnx")
    page = visitor.go(f"/prediction?model={put(visitor.server, model)}&batch=1&samples=1")
    page.get_by_role("button", name="Predict").click()
    page.wait_for_url(re.compile("job="))
    page.get_by_role("progressbar").first.wait_for()
    return until(lambda: predicting(visitor.server, model.name))[0]


def at_rest(worker: psutil.Process) -> None:
    """Stops a worker that never ends: to the app it goes on, and the processor it would have is there for the pages."""
    worker.suspend()


def predicts(visitor: Visitor, folder: Path) -> None:
    """A model that nobody has seen before is run from its page."""
    page = visitor.go(f"/prediction?model={fresh_model(visitor.server, folder)}")
    page.get_by_role("button", name="Predict").click()
    expect(page.get_by_text(re.compile("32 samples predicted"))).to_be_visible()


def test_a_killed_worker_is_a_sentence_and_a_killed_worker_server_is_replaced(visit, server, tmp_path):
    visitor, other = visit(charts=False), visit(charts=False)

    step("a worker killed under a page is a sentence there")
    start_endless(visitor, tmp_path).send_signal(signal.SIGKILL)
    page = visitor.page
    expect(page.get_by_text(re.compile("this model died.*else was affected"))).to_be_visible()
    expect(page.get_by_text(re.compile("SIGKILL"))).to_be_visible()
    assert server.healthy()

    step("the next run is as ever")
    predicts(visitor, tmp_path)

    step("a killed worker server is replaced and its job goes on")
    before = start_endless(visitor, tmp_path)
    model = model_run_by(before)
    servers(server)[0].send_signal(signal.SIGKILL)
    until(lambda: gone(before))
    # A new server has other children too, for a moment: the job is known by its model.
    at_rest(until(lambda: predicting(server, model))[0])
    predicts(other, tmp_path)
    page.get_by_role("button", name="Cancel").first.click()
    expect(page.get_by_text(re.compile("run was cancelled"))).to_be_visible()


@pytest.fixture(autouse=True)
def _nothing_runs_on(server: LiveServer) -> Iterator[None]:
    """What a journey that failed has left running would starve those after it."""
    yield
    for worker in workers(server):
        with contextlib.suppress(psutil.NoSuchProcess):
            worker.kill()


def test_with_every_slot_busy_health_is_told_and_a_cancel_in_the_sidebar_ends_one_run(visit, server, tmp_path):
    visitor, other = visit(charts=False), visit(charts=False)
    worker = start_endless(visitor, tmp_path)
    other_worker = start_endless(other, tmp_path)

    step("health is told at once")
    # What waited for a slot would wait for ever: no run here ends by itself.
    assert all(server.healthy(60) for _ in range(20))

    step("a cancel in the sidebar ends one run, and nobody else's")
    at_rest(other_worker)
    page = visitor.turn_to("Overview")
    button = page.get_by_test_id("stSidebar").get_by_role("button", name="Cancel")
    button.wait_for()
    with ended_within(2.0, worker):
        button.click()
    expect(button).to_have_count(0)
    assert not gone(other_worker), "somebody else's run is not touched"

    step("the slot is free")
    predicts(visitor, tmp_path)
    other.page.get_by_role("button", name="Cancel").first.click()
    expect(other.page.get_by_text(re.compile("run was cancelled"))).to_be_visible()


def test_too_much_memory_is_a_report_and_others_go_on(visit, server, tmp_path):
    visitor = visit(charts=False)
    said = re.compile("out of memory|ran out|needs more memory", re.IGNORECASE)
    with health_watched(server):
        step("in TensorFlow")
        page = visitor.go("/prediction?model=sample-memory-hungry&limit=512&batch=32")
        page.get_by_role("button", name="Predict").click()
        expect(page.get_by_text(said).first).to_be_visible(timeout=120_000)

        step("in ONNX Runtime")
        model = put(server, hungry_onnx(tmp_path / "hungry.onnx"))
        page = visitor.go(f"/prediction?model={model}&limit=256&batch=64&samples=64")
        page.get_by_role("button", name="Predict").click()
        expect(page.get_by_text(said).first).to_be_visible()
    until(lambda: not workers(server))


def crowd(context: BrowserContext, app: LiveServer, folder: Path, count: int) -> None:
    """So many people, each with a model that was never seen before (one job reads it), who all run it (another)."""
    pages = []
    for _ in range(count):
        # Without its cookie the same browser is somebody else, who need not load every script again.
        pages.append(somebody_new(context).new_page())
        pages[-1].set_default_timeout(60_000)
        without_charts(pages[-1])
        pages[-1].goto(f"{app.url}/prediction?model={fresh_model(app, folder)}")
        pages[-1].get_by_test_id("stSidebar").wait_for()
    for page in pages:
        page.get_by_role("button", name="Predict").click()
    for page in pages:
        page.get_by_text("32 samples predicted").wait_for()
        page.close()


@pytest.mark.sweep
def test_two_jobs_of_each_of_a_crowd_on_two_slots_all_end_and_leave_nothing(two_browsers, server, tmp_path):
    step("two people, after whom everything is open that stays open")
    crowd(two_browsers[1], server, tmp_path, 2)
    until(lambda: not workers(server))
    jobs, before = endings(server), descriptors(server)

    step("a crowd")
    with health_watched(server):
        crowd(two_browsers[1], server, tmp_path, PEOPLE)
    new = [ending for job_id, ending in endings(server).items() if job_id not in jobs]
    assert len(new) == 2 * PEOPLE
    assert {ending["result"]["status"] for ending in new} == {"ok"}
    assert len({ending["owner"] for ending in new if ending["kind"] == "predict"}) == PEOPLE

    step("nothing is left")
    until(lambda: not workers(server))
    # A file of the database for each of at most fifteen connections that are kept for the next query.
    until(lambda: descriptors(server)[0] <= before[0] + 8)
    # Streamlit keeps a session for two minutes after its browser went, for it to come back: three descriptors each.
    until(lambda: descriptors(server)[1] <= before[1] + 3 * PEOPLE + 8)
    tree = psutil.Process(server.process.pid).children(recursive=True)
    assert sorted(child.pid for child in tree) == sorted(one.pid for one in servers(server))
    for folder in (server.workspace / "jobs").iterdir():
        assert {path.name for path in folder.iterdir()} <= LEFT, folder


def test_equal_bytes_uploaded_at_once_are_one_file_and_what_breaks_off_leaves_nothing(server):
    step("equal bytes are one file")
    block = os.urandom(MIB)
    digest = hashlib.sha256(block * 24).hexdigest()
    owners = [new_browser(server) for _ in range(3)]
    requests = [begin(server, 24 * MIB, "same.keras", owner)[0] for owner in owners]
    for _ in range(24):
        for request in requests:
            request.send(block)
    assert [request.getresponse().status for request in requests] == [200, 200, 200]
    found = [path for path in (server.workspace / "store" / "files").rglob("model") if path.stat().st_size == 24 * MIB]
    assert [path.parent.name for path in found] == [digest]
    until(lambda: not partial_files(server))

    step("uploads that break off leave no file and no open descriptor")
    before = descriptors(server)
    for _ in range(5):
        connection, _ = begin(server, 64 * MIB, "broken.keras")
        for _ in range(12):
            connection.send(bytes(MIB))
        until(lambda: partial_files(server))
        connection.close()
        until(lambda: not partial_files(server))
    until(lambda: sum(descriptors(server)) <= sum(before) + 2)
    assert server.healthy()


def test_after_the_server_was_killed_everything_finished_is_still_there(visit, tmp_path):
    """Killed in the middle of an upload and of a job; the page in the browser finds its way back by itself."""
    port = free_port()
    with live_server(tmp_path, port=port, light_slots=2) as app:
        visitor, other = visit(app, charts=False), visit(app, charts=False)

        step("something is finished, something runs, something is being sent")
        page = visitor.go(f"/prediction?model={fresh_model(app, tmp_path)}&samples=7")
        page.get_by_role("button", name="Predict").click()
        expect(page.get_by_text("7 samples predicted")).to_be_visible()
        at_rest(start_endless(other, tmp_path))
        connection, _ = begin(app, 64 * MIB, "broken.keras")
        connection.send(bytes(20 * MIB))
        until(lambda: partial_files(app))
        family = psutil.Process(app.process.pid).children(recursive=True)
        assert len(family) >= 3

        step("the server is killed")
        app.process.send_signal(signal.SIGKILL)
        app.process.wait()
        connection.close()
        until(lambda: all(gone(one) for one in family))
        assert partial_files(app), "nobody was left to remove it"
    # What it is started again with has no room for uploads.
    full = shutil.disk_usage(tmp_path).free + (1 << 40)
    with live_server(tmp_path, port=port, light_slots=2, min_free_disk_bytes=full) as app:
        step("what was not finished is gone")
        assert not partial_files(app)
        unfinished = [folder for folder in (app.workspace / "jobs").iterdir() if not (folder / "final.json").exists()]
        assert unfinished == []

        step("the page finds its way back by itself, and its link works")
        expect(page.get_by_text("7 samples predicted")).to_be_visible()
        expect(page.get_by_role("button", name="Predict")).to_be_enabled()
        expect(other.follow(page).get_by_text("7 samples predicted")).to_be_visible()

        step("it goes on")
        page.get_by_role("spinbutton", name="Samples").fill("9")
        page.keyboard.press("Tab")
        page.get_by_role("button", name="Predict").click()
        expect(page.get_by_text("9 samples predicted")).to_be_visible()

        step("too little free disk is said before anything is sent")
        page = other.go()
        page.locator("input.pick-files").set_input_files(str(tiny_onnx(tmp_path / "tiny.onnx")))
        expect(page.get_by_text(re.compile("server's disk: expected"))).to_be_visible()
        assert not partial_files(app)
        assert app.healthy()


def tiny_disk(workspace: Path) -> tuple[str, ...]:
    """A command that runs another one with `workspace` on a disk of 48 MiB of its own; skips where that is not allowed."""
    command = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=48m tmpfs "$0" && exec "$@"', str(workspace))
    workspace.mkdir(parents=True, exist_ok=True)
    if (
        shutil.which("unshare") is None
        or subprocess.run([*command, "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("needs the right to mount a small disk in a namespace of its own")
    return command


def send(app: LiveServer, size_bytes: int, key: Path) -> tuple[int, str]:
    """Uploads as much as the server takes; returns its answer."""
    browser = new_browser(app)
    view = LiveServer(app.process, app.port, app.base_path, key, app.log)
    connection, _ = begin(view, size_bytes, "large.keras", browser)
    try:
        for _ in range(size_bytes // MIB):
            connection.send(bytes(MIB))
    except OSError:
        pass  # refused in the middle: the answer is already there
    try:
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except (http.client.HTTPException, OSError) as error:
        return 0, str(error)


def test_a_full_disk_is_said_and_the_app_stays_healthy(visit, tmp_path):
    under = tiny_disk(tmp_path / "workspace")
    with live_server(tmp_path, under=under, min_free_disk_bytes=0) as app, health_watched(app):
        step("an upload that does not fit is refused, and nothing of it is kept")
        inside = Path(f"/proc/{app.process.pid}/root") / str(app.workspace).lstrip("/")
        status, text = send(app, 32 * MIB, inside)
        assert status == 200, text
        status, text = send(app, 40 * MIB, inside)
        assert (status, "disk" in text) == (507, True), text
        assert not list((inside / "store" / "uploads").iterdir())

        step("a run on a full disk is refused in words")
        visitor = visit(app, charts=False)
        page = visitor.go("/prediction?model=sample-digits-cnn-onnx&samples=3")
        page.get_by_role("button", name="Predict").wait_for()
        # Without a buffer: what does not fit would be written once more when the file is closed.
        with (inside / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
            while filler.write(bytes(1 << 16)):
                pass
        page.get_by_role("button", name="Predict").click()
        expect(page.get_by_text(re.compile("disk")).first).to_be_visible()

        step("pages open")
        visitor.go("/overview?model=sample-digits-cnn")
        expect(page.get_by_role("heading", name="What is in this model?")).to_be_visible()
        expect(page.get_by_text("on our side")).to_have_count(0)

        step("with room again, runs work again")
        (inside / "filler").unlink(missing_ok=True)
        visitor.go("/prediction?model=sample-digits-cnn-onnx&samples=5")
        page.get_by_role("button", name="Predict").click()
        expect(page.get_by_text("5 samples predicted")).to_be_visible()
