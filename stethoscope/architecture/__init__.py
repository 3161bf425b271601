"""What a model is made of, in numbers: work, bytes, receptive fields, weights, and how two models differ."""
