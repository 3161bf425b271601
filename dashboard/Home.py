"""The app: imported by the server it gives the routes, run as a script it draws the page."""

from __future__ import annotations

import streamlit as st

if __name__ != "__main__":
    from dashboard import rerun
    from dashboard.routes import server

    rerun.keep_clicks()
    app = st.App(__file__, lifespan=server.lifespan, routes=server.routes(), middleware=server.middleware())
else:
    from dashboard import navigation, render, session, sidebar

    st.set_page_config(page_title="Stethoscope", layout="wide")
    page = st.navigation(navigation.sections(), position="hidden")
    session.settle(page.url_path)
    with render.errors_as_words():
        sidebar.show(session.current())
        page.run()
