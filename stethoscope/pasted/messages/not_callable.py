"""Something is called that is no function."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    kind = read.get("type", "something")
    told = {
        "module": "A module is called: the function or class has the module's own name (keras.layers.merge of Keras 1 is a module since Keras 2; tqdm, pprint).",
        "NoneType": "None is called: a function that was to be made or found is not there, as after a failed import or a missing return.",
        "float": "A number is called: a name that was a function holds a number now (a learning rate instead of a schedule, a loss or metric that was overwritten), or an operator is missing before a bracket.",
        "str": "A text is called: the name of a function was given where the function itself is wanted, or a name was overwritten.",
    }.get(
        kind,
        f"A value of type {kind} is called as if it were a function: brackets stand after a tensor, list or model that was made already, or a name was overwritten.",
    )
    return Cause(
        told,
        Certainty.LIKELY,
        (
            Step("At your own line, see what stands before the bracket.", "print(type(thing), thing)"),
            Step(
                "LearningRateScheduler and LambdaCallback take a function.",
                "keras.callbacks.LearningRateScheduler(lambda epoch: 1e-3 * 0.9**epoch)   # not a number",
            ),
            Step("merge of Keras 1.", "x = keras.layers.Add()([a, b])   # was merge([a, b], mode='sum')"),
        ),
    )


MESSAGE = Message(
    id="not-callable",
    title="Something is called that is no function",
    wordings=(
        Wording(
            "object is not callable",
            r"'(?P<type>module|float|int|str|list|tuple|dict|Tensor|EagerTensor|KerasTensor|SymbolicTensor|ResourceVariable|Variable|NoneType|Functional|Sequential|Model|ListWrapper|\w{1,40}Dataset|Adam|numpy\.\w{1,20}|DataFrame|Dense|History|property)' object is not callable",
        ),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=(
        "https://github.com/pierluigiferrari/ssd_keras/issues/103",
        "https://github.com/kristpapadopoulos/seriesnet/issues/2",
    ),
    rank=-1,
)
