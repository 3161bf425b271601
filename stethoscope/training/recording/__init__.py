"""The Keras callback that records a training: what it writes, and how it watches without changing anything."""
