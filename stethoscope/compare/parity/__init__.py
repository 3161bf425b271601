"""Whether two models say the same: outputs and layers paired, differences measured, the first that parts, and why."""
