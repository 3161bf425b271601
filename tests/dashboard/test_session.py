"""The address as the view, when the browser is slower than the visitor; and what components tell, taken once."""

from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    from dashboard import choices, session

    session.settle(st.session_state.get("page", "here"))
    for name in ("A", "B"):
        if st.button(name):
            session.remember("layer", name)
    components = {"graph": "clicked", "table": "picked"}
    choice = choices.newest(components)
    if choice is not None and not st.session_state.get("interrupted"):
        session.remember("layer", choice.value)
        choices.take(components)
    st.text(session.recalled("layer") or "none")


def shown(app, **address):
    """What the page shows for a request that came with this address."""
    app.query_params.clear()
    for name, value in address.items():
        app.query_params[name] = value
    return app.run().text[0].value


def test_a_request_sent_before_the_address_changed_does_not_undo_the_change():
    app = AppTest.from_function(page).run()
    app.button[0].click().run()
    assert shown(app) == "A", "the browser had not heard of A"
    app.button[1].click().run()
    assert shown(app, layer="A") == "B"
    assert shown(app, layer="B") == "B"
    assert shown(app, layer="A") == "A", "once the browser said B, another address is the visitor's wish"


def test_an_address_nobody_here_wrote_is_followed():
    app = AppTest.from_function(page).run()
    app.button[0].click().run()
    assert shown(app, layer="elsewhere") == "elsewhere"
    assert shown(app) == "none"


def test_another_page_has_an_address_of_its_own():
    app = AppTest.from_function(page).run()
    app.button[0].click().run()
    app.session_state["page"] = "there"
    assert shown(app) == "none"


def test_the_latest_choice_counts_once_and_survives_an_interruption():
    app = AppTest.from_function(page)
    app.session_state["graph"] = {"clicked": {"value": "from graph", "at": 1.0}}
    app.session_state["table"] = {"picked": {"value": "from table", "at": 2.0}}
    app.session_state["interrupted"] = True
    assert shown(app) == "none"
    app.session_state["interrupted"] = False
    assert shown(app) == "from table"
    app.button[0].click().run()
    assert shown(app, layer="A") == "A", "a choice that was taken is not taken again"
    app.session_state["graph"] = {"clicked": {"value": "from graph", "at": 3.0}}
    assert shown(app, layer="A") == "from graph"
    app.session_state["table"] = {"picked": "not what a component says"}
    assert shown(app, layer="from graph") == "from graph"
