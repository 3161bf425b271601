"""What is wrong in this training script?"""

from __future__ import annotations

from dashboard import render, session
from dashboard.behaviour import script_inputs, script_parts

PAGE = {"title": "Script", "section": "Behaviour", "url_path": "script", "icon": ""}


def page() -> None:
    """A place to give a script; then what is wrong in it."""
    view = session.current()
    render.question("What is wrong in this training script?", "Drop it here, or paste it. It is read, never run.")
    entry = session.script_in_view()
    if entry is None:
        script_inputs.give(view)
    else:
        script_inputs.given(entry)
        script_parts.show(view, entry)


page()
