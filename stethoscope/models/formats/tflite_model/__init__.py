"""Behind the TFLite format: schema, layers, hazards, skeleton, and the runner."""
