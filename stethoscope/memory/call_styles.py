"""One model called in the ways TensorFlow offers: `predict`, `predict_on_batch`, `model(x)`, `tf.function`, compiled.

They differ in peak memory (an eager call frees nothing a Python name still holds, `predict` keeps every batch's
output), in time, and in how often a function is traced. TensorFlow is imported inside functions that a worker runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from stethoscope.errors import CannotRun
from stethoscope.memory.run_settings import RunSettings
from stethoscope.models.capabilities import LiveModel
from stethoscope.models.model_format import Format
from stethoscope.types import Feed, Refusal, Runner, TensorSpec

Tracing = Literal["relaxed", "every shape", "signature"]
"""When a `tf.function` is traced anew: as little as `reduce_retracing=True` needs, for every new shape (TensorFlow's
default), or never again, because `input_signature` leaves the dynamic dimensions open."""

TITLES: Mapping[str, str] = {
    "predict": "model.predict(x)",
    "predict_on_batch": "model.predict_on_batch(x)",
    "call": "model(x)",
    "function": "tf.function(model)(x)",
    "compiled": "tf.function(model, jit_compile=True)(x)",
}
"""How each call style is written."""


def usual_call(kind: Format) -> str:
    """How people call a model of this format: what is taken where nobody says."""
    return "predict" if kind.live else "function"


class Caller(Protocol):
    """A model to be called in one style."""

    inputs: tuple[TensorSpec, ...]
    batches_itself: bool
    """Whether one call takes all rows and cuts them into batches (`model.predict`)."""
    compiles: bool
    """Whether XLA makes one program for each shape."""

    @property
    def traces(self) -> int | None:
        """How often the function behind the calls was traced so far; None where there is none to trace."""
        ...

    def __call__(self, feed: Feed) -> Feed:
        """Calls the model once; one numpy array per output name.

        Raises:
            BadInput: names, shapes or dtypes do not fit the model's inputs.
            CannotRun: TensorFlow cannot run this model in this style.
        """
        ...

    def predict(self, feed: Feed, *, training: bool = False) -> Feed:
        """The same, so that a caller stands in for a runner."""
        ...

    def close(self) -> None:
        """Lets go of the functions made."""
        ...


def caller(
    runner: Runner,
    settings: RunSettings,
    *,
    tracing: Tracing = "relaxed",
    on_batch: Callable[[int], None] | None = None,
) -> Caller:
    """Returns the model of `runner` ready to be called as `settings.call` and `settings.xla` say.

    Args:
        runner: an opened model; it stays the owner of it.
        settings: `call`, `xla` and, for `model.predict`, `batch_size` are used.
        tracing: when a "function" or "compiled" call is traced anew. Compiled ones are traced for every shape unless
            a signature is asked for: XLA compiles one program per shape whatever was traced.
        on_batch: told the number of each batch that `model.predict` has finished, from 1.

    Raises:
        CannotRun: the format has one way of being called only, or XLA was asked for an eager call.
    """
    model = runner.can(LiveModel)
    if isinstance(model, Refusal):
        return _of_other_format(runner, settings)
    if settings.call == "call":
        if settings.xla:
            raise CannotRun(
                "Call style model(x) with XLA: expected a function to compile, got operations run one at a time. "
                'Choose call style "compiled".'
            )
        return _Eager(model)
    if settings.call == "predict":
        return _Predict(model, settings, on_batch)
    if settings.call == "predict_on_batch":
        return _PredictOnBatch(model, settings)
    compiled = settings.xla or settings.call == "compiled"
    if not compiled and tracing == "relaxed":
        return _OfRunner(runner)
    return _Function(model, compiled, tracing)


def _of_other_format(runner: Runner, settings: RunSettings) -> Caller:
    if settings.call != "function" or settings.xla:
        style = "XLA" if settings.call == "function" else f"{TITLES[settings.call]}"
        raise CannotRun(
            f'Call style: expected "function" without XLA for a file that is not a Keras model, got {style}. '
            "Other files are graphs with one way of being run; use the .keras or .h5 file to compare call styles."
        )
    return _OfRunner(runner)


class _Closing:
    batches_itself = compiles = False
    inputs: tuple[TensorSpec, ...]

    def __call__(self, feed: Feed) -> Feed:
        raise NotImplementedError

    def predict(self, feed: Feed, *, training: bool = False) -> Feed:
        if training:
            raise CannotRun("Call styles: expected inference, got training mode. Use the runner itself.")
        return self(feed)

    def close(self) -> None:
        """Nothing was made."""


class _OfRunner(_Closing):
    """The runner's own way: for Keras a `tf.function` that relaxes shapes, for other formats their runtime."""

    def __init__(self, runner: Runner) -> None:
        self._runner, self.inputs = runner, runner.inputs

    @property
    def traces(self) -> int | None:
        live = self._runner.can(LiveModel)
        return None if isinstance(live, Refusal) else live.traces

    def __call__(self, feed: Feed) -> Feed:
        return self._runner.predict(feed)


class _Eager(_Closing):
    traces = None

    def __init__(self, runner: LiveModel) -> None:
        self._runner, self.inputs = runner, runner.inputs

    def __call__(self, feed: Feed) -> Feed:
        return self._runner.called_with(feed, self._runner.model)


class _Function(_Closing):
    def __init__(self, runner: LiveModel, compiled: bool, tracing: Tracing) -> None:
        self._runner, self.inputs = runner, runner.inputs
        self.compiles, self._tracing = compiled, tracing
        self._function: Callable[[Any], Any] | None = None
        self._count = 0

    @property
    def traces(self) -> int | None:
        return self._count

    def __call__(self, feed: Feed) -> Feed:
        return self._runner.called_with(feed, self._made)

    def _made(self, argument: Any) -> Any:
        if self._function is None:
            self._function = self._make(argument)
        return self._function(argument)

    def _make(self, example: Any) -> Callable[[Any], Any]:
        import tensorflow as tf

        model = self._runner.model

        def run(argument: Any) -> Any:
            self._count += 1  # Python runs while tracing only
            return model(argument)

        options: dict[str, Any] = {"jit_compile": True} if self.compiles else {}
        if self._tracing == "signature":
            options["input_signature"] = [_signature(example, self.inputs)]
        elif self._tracing == "relaxed" and not self.compiles:
            options["reduce_retracing"] = True
        made: Callable[[Any], Any] = tf.function(run, **options)
        return made

    def close(self) -> None:
        self._function = None


class _PredictOnBatch(_Closing):
    def __init__(self, runner: LiveModel, settings: RunSettings) -> None:
        self._runner, self.inputs = runner, runner.inputs
        _set_xla(runner.model, settings.xla)
        self.compiles = settings.xla

    @property
    def traces(self) -> int | None:
        return _predict_traces(self._runner.model)

    def __call__(self, feed: Feed) -> Feed:
        return self._runner.called_with(feed, self._runner.model.predict_on_batch, as_arrays=True)

    def close(self) -> None:
        if self._runner.model is not None:
            self._runner.model.predict_function = None


class _Predict(_PredictOnBatch):
    batches_itself = True

    def __init__(self, runner: LiveModel, settings: RunSettings, on_batch: Callable[[int], None] | None) -> None:
        super().__init__(runner, settings)
        self._batch_size = settings.batch_size
        self._callbacks = [] if on_batch is None else [_batch_counter(runner.keras, on_batch)]

    def __call__(self, feed: Feed) -> Feed:
        return self._runner.called_with(feed, self._predicted, as_arrays=True)

    def _predicted(self, argument: Any) -> Any:
        return self._runner.model.predict(
            argument, batch_size=self._batch_size, verbose=0, callbacks=list(self._callbacks)
        )


def _set_xla(model: Any, wanted: bool) -> None:
    """Says yes or no to XLA for `predict`; left alone, Keras 3 turns it on where there is an accelerator."""
    model.jit_compile = wanted
    if wanted and not model.jit_compile:
        raise CannotRun(
            "XLA for this model: expected layers that XLA can compile, got one that says it cannot. Run it without XLA."
        )
    model.predict_function = None


def _predict_traces(model: Any) -> int:
    made = getattr(model, "predict_function", None)
    return 0 if made is None else int(made.experimental_get_tracing_count())


def _batch_counter(keras: Any, on_batch: Callable[[int], None]) -> Any:
    class Counter(keras.callbacks.Callback):  # type: ignore[misc]
        """Tells how many batches are done."""

        def on_predict_begin(self, logs: Any = None) -> None:
            self.done = 0

        def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
            self.done += 1
            on_batch(self.done)

    return Counter()


def _signature(example: Any, inputs: tuple[TensorSpec, ...]) -> Any:
    """The structure of `example` with a spec in place of each tensor, open where the model's input is."""
    import tensorflow as tf

    # Flattened, the structure a model takes has the order of its inputs.
    specs = [
        tf.TensorSpec(_open_shape(tensor.shape, spec.shape), tensor.dtype)
        for tensor, spec in zip(tf.nest.flatten(example), inputs, strict=True)
    ]
    return tf.nest.pack_sequence_as(example, specs)


def _open_shape(seen: Any, declared: tuple[int | None, ...] | None) -> list[int | None]:
    if declared is None:
        return [None] * len(seen)
    return [None if size is None else int(got) for size, got in zip(declared, seen, strict=True)]
