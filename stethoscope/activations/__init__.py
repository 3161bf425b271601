"""What happens inside a model on real data: statistics of every layer, looks at single samples, projections."""
