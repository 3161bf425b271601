"""Behind SavedModel and frozen graphs: GraphDef without TensorFlow, layers, shapes, hazards, drawing, and the runners."""
