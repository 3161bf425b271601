"""Models to try: one specimen per behaviour, and the recipes that build them."""
