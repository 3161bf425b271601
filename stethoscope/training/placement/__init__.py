"""Training in one place and predicting in another, or in several at once: what goes wrong, shown, and what helps."""
