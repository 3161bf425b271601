"""The pages on behaviour: diagnosis, consistency, overfit test, prediction."""
