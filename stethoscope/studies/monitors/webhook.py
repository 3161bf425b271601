"""Telling another program of an alarm: one POST of JSON, to http or https, without following where it leads."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from stethoscope.codec import plain
from stethoscope.errors import BadSetting

TIMEOUT_S = 10.0
_MOST_FEATURES = 50
_LEFT_OUT = ("histogram", "reference", "current")


def checked_url(url: str) -> str:
    """The address, if it is one that may be posted to; "" stays "".

    Raises:
        BadSetting: it is not http or https, or names no host.
    """
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host or any(character.isspace() for character in url):
        raise BadSetting(f"Webhook {url[:80]!r}: expected an http or https address, like https://host/path.")
    return url


def post(url: str, value: Mapping[str, Any], timeout_s: float = TIMEOUT_S) -> str:
    """Posts the answer of a run, without its histograms; returns "" or, in a sentence, why it did not arrive."""
    body = json.dumps(plain(bounded(value)), allow_nan=False).encode()
    request = urllib.request.Request(
        checked_url(url), body, {"Content-Type": "application/json", "User-Agent": "stethoscope"}, method="POST"
    )
    opener = urllib.request.build_opener(_NoRedirect)
    host = urlsplit(url).hostname
    try:
        with opener.open(request, timeout=timeout_s):
            return ""
    except urllib.error.HTTPError as error:
        return f"The webhook was not delivered: {host} answered {error.code}. Check the address."
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        return f"The webhook was not delivered: {host} cannot be reached ({reason}). Check the address and the network."


def bounded(value: Mapping[str, Any]) -> dict[str, Any]:
    """The answer as it is sent: the first features without pictures, nothing that grows with the data."""
    features = [
        {name: item for name, item in one.items() if name not in _LEFT_OUT}
        for one in (value.get("features") or [])[:_MOST_FEATURES]
    ]
    return {name: item for name, item in value.items() if name not in ("over_time", "features")} | {
        "features": features
    }


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None
