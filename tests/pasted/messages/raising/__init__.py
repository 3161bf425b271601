"""Programs that raise what people paste: a function for each kind, by what it is about; its name is the kind's id.

`python -m tests.pasted.messages.raising [KIND…]` writes the texts into `specimens/` again.
"""
