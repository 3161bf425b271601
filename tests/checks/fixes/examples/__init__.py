"""Examples of fixes, one file for each file of fixes: `EXAMPLES`, pairs of a fix and a training that it changes."""
