"""What a model expects of its data beside what the data is, and the steps that make them fit. Nothing is executed."""
