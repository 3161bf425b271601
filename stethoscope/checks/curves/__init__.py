"""Reading curves: shapes of one curve, what trials of one training say against each other, and pictures of both."""
