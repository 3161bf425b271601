"""What TensorFlow and Keras offer by name, as a table made by `python -m tools.script_api`."""
