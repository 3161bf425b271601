"""An embedding with fewer rows than there are tokens.

Why: token numbers begin at 1 for most tokenizers, 0 is padding: of `n` words the largest number is `n`, and the embedding needs `n + 1`
rows. A number beyond the last row is an error on a CPU, and zeros on a GPU.
Example: `Embedding(len(tokenizer.word_index), 64)`; `imdb.load_data(num_words=10000)` and `Embedding(5000, 32)`.
Fix: `len(word_index) + 1`; the vocabulary that the data was cut to.
Source: stackoverflow.com/questions/54155349; keras.io/api/layers/core_layers/embedding ("maximum integer index + 1"); raised by TensorFlow 2.21.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Attribute, Made, number

_CUTS = {"keras.layers.TextVectorization": "max_tokens", "keras.preprocessing.text.Tokenizer": "num_words"}
_A_VOCABULARY = 1_000
"""Embeddings of places in a sentence have fewer rows."""
_LOADS = frozenset({"keras.datasets.imdb.load_data", "keras.datasets.reuters.load_data"})


def _run(facts: Facts) -> Iterator[Finding]:
    words = [
        value
        for call in facts.calls
        if meaning(call.name) in _LOADS and (value := number(call.argument("num_words"))) is not None
    ] or _cut_to(facts)
    done: set[int] = set()
    for call in facts.calls:
        if meaning(call.name) != "keras.layers.Embedding" or id(call.node) in done:
            continue
        done.add(id(call.node))
        size = call.argument("input_dim", 0)
        node = next(
            (one.value for one in call.call_node.keywords if one.arg == "input_dim"),
            call.call_node.args[0] if call.call_node.args else None,
        )
        if node is None:
            continue
        if (
            isinstance(size, Made)
            and size.call.name == "len"
            and size.call.args
            and isinstance(size.call.args[0], Attribute)
            and size.call.args[0].name == "word_index"
            and not any(assigned.attribute == "word_index" for assigned in facts.assignments)
            and not any(
                isinstance(stored.target, Attribute) and stored.target.name == "word_index"
                for stored, _ in facts.stored
            )
        ):
            yield facts.finding(
                call,
                Fault.ARCHITECTURE,
                Severity.HIGH,
                0.9,
                "The tokenizer counts words from 1, so the last word's number is len(word_index): one more than this embedding has rows.",
                "Add 1.",
                [facts.spans.replace(node, f"{facts.spans.text(node)} + 1")],
            )
        rows = number(size)
        if rows is not None and len(set(words)) == 1 and words[0] > rows:
            yield facts.finding(
                call,
                Fault.ARCHITECTURE,
                Severity.HIGH,
                0.92,
                f"The data has token numbers up to {words[0] - 1:g} ({words[0]:g}), and this embedding has {rows:g} rows.",
                f"Give it {words[0]:g} rows.",
                [facts.spans.replace(node, f"{words[0]:g}")] if words[0] < 1e6 else [],
            )


def _cut_to(facts: Facts) -> list[float]:
    """The vocabulary that texts are cut to; empty where an embedding of the script is of places, or has room for it."""
    found = [
        value
        for call in facts.calls
        if meaning(call.name) in _CUTS
        and (value := number(call.argument(_CUTS[meaning(call.name)], 0 if "Vec" in call.name else -1))) is not None
    ]
    sizes = [
        number(call.argument("input_dim", 0)) for call in facts.calls if meaning(call.name) == "keras.layers.Embedding"
    ]
    own = all(size is not None and _A_VOCABULARY <= size < max(found, default=0) for size in sizes)
    return found if own else []


RULE = Rule(_run, same_as=frozenset({"embedding-range"}))
