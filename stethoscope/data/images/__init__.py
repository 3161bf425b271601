"""Images as rows: found, decoded, paired with their masks and marks, whatever annotated them."""
