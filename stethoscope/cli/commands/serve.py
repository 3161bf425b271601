"""`stethoscope serve`: the dashboard, started."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer


def serve(
    address: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for the whole network.")] = "localhost",
    port: Annotated[int, typer.Option(help="Port.")] = 8501,
    base_path: Annotated[str, typer.Option(help="URL path to serve under, for example /team/models.")] = "",
    workspace: Annotated[Path | None, typer.Option(help="Folder for files and results.")] = None,
) -> None:
    """Start the dashboard, ready for a team."""
    root = Path(__file__).resolve().parents[3]
    home = root / "dashboard" / "Home.py"
    if workspace is not None:
        os.environ["STETHOSCOPE_WORKSPACE"] = str(workspace.resolve())
    prefix = base_path.strip("/")
    os.environ["STETHOSCOPE_BASE_PATH"] = prefix
    options = {"server.address": address, "server.port": port, "server.baseUrlPath": prefix, "server.headless": "true"}
    if address not in ("localhost", "127.0.0.1", "::1"):
        os.environ.setdefault("STETHOSCOPE_REQUIRE_CONTAINMENT", "true")
    shown = "localhost" if address in ("0.0.0.0", "::", "localhost") else address
    options["browser.serverAddress"] = shown
    command = [sys.executable, "-m", "streamlit", "run", str(home)]
    command += [f"--{name}={value}" for name, value in options.items()]
    sys.stderr.write(f"Stethoscope on http://{shown}:{port}/{prefix}\n")
    sys.stderr.flush()
    os.chdir(root)
    os.execv(sys.executable, command)
