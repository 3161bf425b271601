"""The Activations page: samples, layers, and the views of what happens between them."""
