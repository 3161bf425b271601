"""Numbers of words are given to a layer as if they were quantities.

Why: word 4,000 is not twice word 2,000. A recurrent or dense layer reads the numbers as sizes, and finds next to nothing in them; an
Embedding gives each word numbers of its own.
Example: `pad_sequences(tokenizer.texts_to_sequences(texts))` and `LSTM(64, input_shape=(100, 1))` as the first layer.
Fix: `Embedding(words, 64)` first.
Source: keras.io/examples/nlp/bidirectional_lstm_imdb; Chollet, "Deep Learning with Python", 11.3; stackoverflow.com/questions/45649520.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import layer_name
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Made, calls_behind

_WORDS = ("keras.datasets.imdb.load_data", "keras.datasets.reuters.load_data")
_SIZES = frozenset(f"keras.layers.{name}" for name in ("LSTM", "GRU", "SimpleRNN", "Bidirectional", "Dense", "Conv1D"))
_SPREADS = ("to_categorical", "one_hot", "sequences_to_matrix", "texts_to_matrix")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        layers = [one.call for one in model.layers if isinstance(one, Made)]
        names = [layer_name(one) for one in layers]
        if model.kind != "sequential" or not model.whole or len(layers) != len(model.layers):
            continue
        first = next(
            (one for one in layers if layer_name(one) not in ("keras.layers.Input", "keras.layers.InputLayer")), None
        )
        if (
            first is None
            or layer_name(first) not in _SIZES
            or id(first.node) in done
            or "keras.layers.Embedding" in names
        ):
            continue
        for fit in model.calls("fit"):
            x = fit.argument("x", 0)
            behind = [] if x is None else list(calls_behind(x))
            made = {meaning(one.name).rpartition(".")[2] or one.method for one in behind}
            words = "texts_to_sequences" in made or any(meaning(one.name) in _WORDS for one in behind)
            if words and "pad_sequences" in made and not made & set(_SPREADS):
                done.add(id(first.node))
                yield facts.finding(
                    first,
                    Fault.ARCHITECTURE,
                    Severity.HIGH,
                    0.88,
                    f"{layer_name(first).rpartition('.')[2]} reads the numbers of words as sizes: no Embedding stands in front of it.",
                    "Put an Embedding first.",
                )
                break


RULE = Rule(_run)
