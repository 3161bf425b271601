"""The pages, found by looking: one file in pages/ is one page, its constant `PAGE` says where it belongs.

`PAGE` is read without running the page: {"title", "section", "url_path", "icon"}; the first line of the docstring is
the question that the page answers. The order is that of the file names (`10_overview.py`).
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import streamlit as st
from streamlit.navigation.page import StreamlitPage

PAGES: Final = Path(__file__).resolve().parents[1] / "pages"
SECTIONS: Final = ("Model", "Data", "Behaviour", "Cost", "Training", "Deployment", "Team")
_URL_PATH = re.compile(r"[a-z][a-z0-9-]*")
_KEYS = {"title", "section", "url_path", "icon"}


@dataclass(frozen=True)
class PageFile:
    """What a page's file says about itself."""

    path: Path
    question: str
    title: str
    section: str
    url_path: str
    icon: str = ""


@functools.cache
def page_files(folder: Path = PAGES) -> tuple[PageFile, ...]:
    """Every page in `folder`, in order.

    Raises:
        ValueError: a page without question or `PAGE`, an unknown section or key, or an address used twice.
    """
    found = tuple(read_page(path) for path in sorted(folder.glob("[0-9]*_*.py")))
    addresses = [page.url_path for page in found]
    for address in addresses:
        if addresses.count(address) > 1:
            raise ValueError(f"pages/: two pages have the address {address!r}. Choose another url_path.")
    return found


def read_page(path: Path) -> PageFile:
    """Reads one page's header without running it.

    Raises:
        ValueError: what is wrong with it.
    """
    tree = ast.parse(path.read_text("utf-8"), str(path))
    question = (ast.get_docstring(tree) or "").partition("\n")[0]
    if not question:
        raise ValueError(f"{path.name}: expected the page's question as its docstring, got none.")
    header = _header(path, tree)
    if set(header) - _KEYS or not {"title", "section", "url_path"} <= set(header):
        raise ValueError(f"{path.name}: expected PAGE with {sorted(_KEYS)}, got {sorted(header)}.")
    page = PageFile(path, question, **header)
    if page.section not in SECTIONS:
        raise ValueError(f"{path.name}: expected a section of {SECTIONS}, got {page.section!r}.")
    if not _URL_PATH.fullmatch(page.url_path):
        raise ValueError(f"{path.name}: expected a lower-case url_path, got {page.url_path!r}.")
    if page.icon.startswith(":"):
        # The browser would fetch such an icon from another machine.
        raise ValueError(f"{path.name}: expected an emoji or no icon, got {page.icon!r}.")
    return page


def _header(path: Path, tree: ast.Module) -> Mapping[str, str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(name, ast.Name) and name.id == "PAGE" for name in node.targets
        ):
            value = ast.literal_eval(node.value)
            if isinstance(value, dict) and all(isinstance(part, str) for pair in value.items() for part in pair):
                return value
    raise ValueError(f"{path.name}: expected a constant PAGE of texts, got none.")


def sections() -> dict[str, list[StreamlitPage]]:
    """The pages by section, sections without a page left out; the first page is the one at the app's address."""
    by_section: dict[str, list[StreamlitPage]] = {}
    files = page_files()
    for section in SECTIONS:
        for page in files:
            if page.section == section:
                made = st.Page(
                    page.path,
                    title=page.title,
                    icon=page.icon or None,
                    url_path=page.url_path,
                    default=page is files[0],
                )
                by_section.setdefault(section, []).append(made)
    return by_section
