"""The engine: reads models, runs them contained, and says what it found. Imports no Streamlit and no ML framework."""

__version__ = "0.1.0"
