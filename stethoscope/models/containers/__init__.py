"""Readers of untrusted containers, below every format: archives, HDF5, protocol-buffer wire, flatbuffers, and their bounds."""
