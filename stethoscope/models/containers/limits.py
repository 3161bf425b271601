"""Bounds on what a static reader may allocate for an untrusted file. Honest models stay far below them."""

MAX_MEMBERS = 20_000
"""Files in one archive. The largest real SavedModel seen has about 1,500."""
MAX_LOG_MEMBERS = 200_000
"""The same of training logs: MLflow's file store holds twenty small files and more for each run."""
MAX_INFLATED_BYTES = 16 << 30
"""Bytes an archive may inflate to."""
RATIO_FLOOR_BYTES = 64 << 20
MAX_RATIO = 200
"""Above `RATIO_FLOOR_BYTES`, inflated over stored bytes. Weights compress by less than 2; all-zero tensors by 1,000."""
MAX_CONFIG_BYTES = 64 << 20
"""One JSON description (Keras config.json, model_config). A 1,000-layer model needs about 2 MB."""
MAX_GRAPH_BYTES = 256 << 20
"""A graph without its weights, as protobuf."""
MAX_LAYERS = 1_000_000
"""Layers or operators in one description."""
MAX_DEPTH = 200
"""Nesting of models, subgraphs or configs."""
MAX_WEIGHT_BYTES = 64 << 30
"""Weights a file may declare, computed from shapes and dtypes before anything is allocated."""
