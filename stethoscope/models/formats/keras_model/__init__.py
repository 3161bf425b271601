"""Behind the Keras formats: configuration to layers, shapes and parameters without Keras; loading and running with it."""
