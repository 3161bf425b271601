"""A diagnosis as a file to send: HTML and SARIF from the same report."""
