"""Upload by drag and drop, file picker or folder picker, with progress; a folder travels as a tar."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard.components import SCRIPT, component, nothing
from dashboard.routes.owner_cookie import owner_of, upload_token
from dashboard.routes.replies import base_path
from dashboard.routes.upload import TOKEN_HEADER
from stethoscope.jobs.store import is_id
from stethoscope.models.formats import all_formats
from stethoscope.settings import settings
from stethoscope.sizes import human_bytes
from stethoscope.types import UploadKind

FOLDER = Path(__file__).parent


def show(
    key: str,
    title: str = "Drop a model here",
    hint: str = "",
    *,
    folders: bool = True,
    together: bool = False,
    expected: UploadKind | None = None,
) -> list[str]:
    """Draws the drop zone.

    Args:
        key: the widget's key. Uploads belong to it and go on while another page is shown.
        title: what to do here.
        hint: what may be dropped; the model formats by default.
        folders: whether to offer choosing a folder.
        together: whether files that are dropped at once are one thing, as images and their annotations are.
        expected: what is meant, if it may not be anything: what its content leaves open is taken for that.

    Returns:
        The ids of entries that have just been stored, in the run that follows; otherwise nothing.
    """
    owner = owner_of(st.context.cookies)
    if owner is None:
        st.warning(
            "This browser keeps no cookies for this site, so uploads would have no owner. Allow them and reload."
        )
        return []
    result = component(FOLDER, ("tar.js", "gather.js", "sending.js", SCRIPT))(
        key=key,
        data={
            "key": key,
            "url": f"{base_path()}/api/upload",
            "header": TOKEN_HEADER,
            "token": upload_token(owner),
            "title": title,
            "folders": folders,
            "together": together,
            "expected": expected or "",
            "hint": hint or _of_models(),
        },
        on_uploaded_change=nothing,
    )
    uploaded = result.uploaded
    if not isinstance(uploaded, list):
        return []
    return [entry_id for entry_id in uploaded if isinstance(entry_id, str) and is_id(entry_id)]


def _of_models() -> str:
    """What the formats say they are: suffixes first."""
    hints = sorted({known.hint for known in all_formats().values()}, key=lambda hint: (not hint.startswith("."), hint))
    limit = human_bytes(int(settings().max_upload_bytes))
    hints.append("training scripts (.py, .ipynb)")
    return f"{', '.join(hints)}. Up to {limit}. It stays on this server."
