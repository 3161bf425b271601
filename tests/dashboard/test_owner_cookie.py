from __future__ import annotations

import stat
import threading

import pytest

from dashboard.routes import owner_cookie
from dashboard.routes.owner_cookie import cookie_name, is_upload_token, owner_of, read_key, signed, upload_token
from tests.dashboard.conftest import Browser


def test_the_first_page_brings_the_cookie_and_the_next_keeps_it(server):
    assert server.owner
    assert server.open_page().cookies == []


def test_scripts_cannot_read_it_and_other_sites_do_not_send_it(server):
    (cookie,) = Browser(server.port).open_page().cookies
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/;" in cookie
    assert "Secure" not in cookie, "plain http would never send it back"


@pytest.mark.parametrize("base_path_option", ["/team/models"])
def test_it_stays_below_the_base_path(server):
    (cookie,) = Browser(server.port, server.base).open_page().cookies
    assert "Path=/team/models;" in cookie


def test_each_browser_is_its_own_owner(server):
    other = Browser(server.port)
    other.open_page()
    assert other.owner
    assert other.owner != server.owner


@pytest.mark.parametrize(
    "change", [lambda v: "x" + v, lambda v: v[:-2], lambda v: "", lambda v: "a.b.c", lambda v: "\udcff"]
)
def test_a_changed_cookie_proves_nothing(workspace, change):
    value = signed("A" * 22)
    assert owner_of({cookie_name(): value}) == "A" * 22
    assert owner_of({cookie_name(): change(value)}) is None
    assert owner_of({}) is None


def test_an_old_cookie_is_renewed_for_the_same_owner(server, monkeypatch):
    monkeypatch.setattr(owner_cookie, "_RENEW_AFTER_S", -1)
    owner = server.owner
    assert len(server.open_page().cookies) == 1
    assert server.owner == owner


def test_api_answers_bring_no_cookie(server):
    assert Browser(server.port).ask("GET", "/healthz").cookies == []


def test_the_key_is_secret_and_the_same_for_processes_that_race(tmp_path):
    path = tmp_path / "new" / "cookie.key"
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda: found.append(read_key(path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(found[0]) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == ["cookie.key"]


def test_a_token_belongs_to_one_owner(workspace):
    assert is_upload_token("ada", upload_token("ada"))
    assert not is_upload_token("bob", upload_token("ada"))
    assert not is_upload_token("ada", "")
    assert not is_upload_token("ada", "é")
