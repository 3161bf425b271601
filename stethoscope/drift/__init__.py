"""Whether data of today is still like the data of then: tests per feature, over whole rows, within groups, over time."""
