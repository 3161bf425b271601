"""The Streamlit shell: server routes, navigation, who is looking at which model."""
