"""The pages on cost: memory, devices, planner."""
