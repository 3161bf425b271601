"""The graph on the page Architecture and the table of layers beside it."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import FrameLocator, Locator, Page

GRAPH = "iframe[title^='Graph of']"


def graph_of(page: Page) -> FrameLocator:
    """The graph, once a node of it is drawn."""
    graph = page.frame_locator(GRAPH)
    graph.locator("g.graph-node").first.wait_for()
    return graph


def rows_of(page: Page) -> Locator:
    """The layers in the table."""
    return page.locator(".space .row")


def selected_row(page: Page) -> Locator:
    """The layer that is selected in the table."""
    return page.locator(".space .row[aria-selected='true']")


def selected_type(graph: FrameLocator) -> Locator:
    """What the selected node of the graph says it is."""
    return graph.locator("g.graph-node.select .node-item-type")


def inside(page: Page, script: str) -> Any:
    """Evaluates in the window of Netron, `w`, from outside: its own eval is switched off."""
    return page.evaluate(
        "(script) => { const frame = [...document.querySelectorAll('*')].map((e) => e.shadowRoot && e.shadowRoot.querySelector('iframe'))"
        ".find(Boolean); return new Function('w', 'return ' + script)(frame.contentWindow); }",
        script,
    )
