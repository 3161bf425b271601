"""Our own HTTP routes beside Streamlit's: uploads, Netron's page, downloads, health, and who is asking."""
