"""An estimate to change."""

from __future__ import annotations

from stethoscope.memory.estimate import Alive, Estimate

MIB = 1 << 20
ESTIMATE = Estimate(
    8,
    "predict",
    None,
    weights_bytes=10 * MIB,
    live_bytes=50 * MIB,
    workspace_bytes=0,
    outputs_bytes=MIB,
    input_bytes=MIB,
    runtime_bytes=20 * MIB,
    peak_bytes=100 * MIB,
    phase="run",
    at="model/scores",
    layer="attention",
    alive=(Alive("model/scores:0", "attention", (8, 12, 512, 512), "float32", 96 * MIB),),
    timeline=(),
    pool_bytes=18 * MIB,
    loading_peak_bytes=40 * MIB,
    call_peak_bytes=100 * MIB,
    lean_peak_bytes=82 * MIB,
    batch_output_bytes=MIB,
)
