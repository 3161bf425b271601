"""Faulty Keras programs with their repaired twins: what the diagnosis is measured on."""
