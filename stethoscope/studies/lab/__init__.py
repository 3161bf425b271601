"""Experiments of several jobs each: they submit jobs to the engine, watch them, and report as they go."""
