"""The text, JSON and XML in which tools write down what is on an image."""
