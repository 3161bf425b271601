"""Between numpy feeds and TensorFlow functions, and TensorFlow's errors as sentences. Imported only in a worker."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.errors import BadInput, CannotRun
from stethoscope.framework_errors import gist
from stethoscope.types import Feed, ModelFile

RUNNING = "running it"
_NOT_REGISTERED = re.compile(
    r"Op type not registered '([^']+)'|No (?:registered '|OpKernel was registered to support Op ')(\w+)'"
)

_SHAPES = re.compile(
    r"requested shape has|[Cc]annot reshape|Dimensions must be equal|[Ii]ncompatible shapes|size-incompatible|broadcastable shapes|"
    r"incompatible with the layer|must have the same (?:shape|dimension)|should match"
)
"""How TensorFlow says that sizes do not go together."""
_UNDEFINED = re.compile(r"name '(\w+)' is not defined")
BY_CODE = "Build the model by its code and load the weights, or call model.export() where it was saved and give the SavedModel."
"""What to do where a function inside a model lacks something of its program."""
_OTHER_ROWS = (
    "Sizes inside it do not go together with the number of rows it was fed: give it the number that it takes in a call "
    "(--batch-size), with data of at least as many rows (--data)."
)


@contextmanager
def explained(file: ModelFile, doing: str) -> Iterator[None]:
    """Turns what TensorFlow raises while `doing` something into `CannotRun` or `BadInput`.

    Running out of memory passes unchanged: the worker reports it with the tensor's shape.
    """
    import tensorflow as tf

    try:
        yield
    except tf.errors.ResourceExhaustedError:
        raise
    except tf.errors.InvalidArgumentError as error:
        if doing != RUNNING:
            raise CannotRun(
                f"{file.name}: TensorFlow refused it while {doing}: {gist(error)}. "
                + (_OTHER_ROWS if _SHAPES.search(str(error)) else "Save it again with a current TensorFlow.")
            ) from error
        raise BadInput(
            f"{file.name}: TensorFlow refused the data while {doing}: {gist(error)}. "
            + (_OTHER_ROWS if _SHAPES.search(str(error)) else "Check the input values and shapes.")
        ) from error
    except ValueError as error:
        if doing == RUNNING and str(error).startswith("Cannot feed"):
            raise BadInput(f"{file.name}: {gist(error)}. Give data of that shape.") from error
        raise CannotRun(_failure(file, doing, error)) from error
    except (
        tf.errors.OpError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        NotImplementedError,
        OSError,
        AssertionError,
        RuntimeError,
        NameError,
    ) as error:
        raise CannotRun(_failure(file, doing, error)) from error


def undefined(error: BaseException) -> str:
    """The name that a function inside a model takes from the program it was saved in; "" where an error speaks of none."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, NameError) and (found := _UNDEFINED.search(str(seen))):
            return found.group(1)
        seen = seen.__cause__ or seen.__context__
    return ""


def _failure(file: ModelFile, doing: str, error: BaseException) -> str:
    if name := undefined(error):
        return f"{file.name}: it failed while {doing}: {gist(error)}. The file does not hold {name!r}. {BY_CODE}"
    missing = _NOT_REGISTERED.search(str(error))
    if missing:
        name = missing.group(1) or missing.group(2)
        return f"{file.name}: needs operator {name!r}, which the installed TensorFlow cannot run on this machine. Run it where it was made."
    if "only supports the NHWC tensor format" in str(error):
        return (
            f"{file.name}: TensorFlow failed while {doing}: {gist(error)}. On this processor TensorFlow does so unless it is "
            "started with TF_ENABLE_ONEDNN_OPTS=1. Start Stethoscope with it, or save the model for channels last."
        )
    if "not a valid root scope name" in str(error):
        return (
            f"{file.name}: TensorFlow failed while {doing}: {gist(error)}. Name the model and its layers with letters, digits, "
            "dots, dashes and underscores only."
        )
    advice = _OTHER_ROWS if _SHAPES.search(str(error)) else "Save the model again with a current TensorFlow."
    return f"{file.name}: TensorFlow failed while {doing}: {gist(error)}. {advice}"


def tensors(function: Any, values: Feed) -> dict[str, Any]:
    """The feed as TensorFlow tensors in the dtypes the function's inputs have."""
    import tensorflow as tf

    _, keywords = function.structured_input_signature
    return {
        name: tensor(value, keywords[name].dtype if name in keywords else tf.as_dtype(value.dtype))
        for name, value in values.items()
    }


def tensor(value: npt.NDArray[Any], dtype: Any) -> Any:
    """One array as a tensor; text becomes bytes."""
    import tensorflow as tf

    return tf.constant(value.astype(object) if value.dtype.kind in "OSU" else value, dtype=dtype)


def array(value: Any) -> npt.NDArray[Any]:
    """A result (a tensor or an array) as an array; a sparse or ragged one as its dense form."""
    import tensorflow as tf

    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, tf.SparseTensor):
        value = tf.sparse.to_dense(value)
    elif isinstance(value, tf.RaggedTensor):
        value = value.to_tensor()
    found: npt.NDArray[Any] = np.asarray(value.numpy())
    return found


def holds_array(graph: Any, tensor: str) -> bool:
    """Whether a graph tensor exists and holds values rather than a handle."""
    import tensorflow as tf

    try:
        found = graph.get_tensor_by_name(tensor)
    except (KeyError, ValueError):
        return False
    return found.dtype not in (tf.resource, tf.variant) and bool(graph.is_fetchable(found))


def conditional(graph: Any) -> tuple[set[str], set[str]]:
    """Names of operators inside TensorFlow 1 loops (no single value), and of those in branches that may not be taken."""
    loops: set[str] = set()
    branches: set[str] = set()
    for operation in graph.get_operations():
        if operation.type in ("Enter", "RefEnter"):
            _spread(operation, loops, ("Exit", "RefExit"))
    for operation in graph.get_operations():
        if operation.type in ("Switch", "RefSwitch") and operation.name not in loops:
            _spread(operation, branches, ("Merge", "RefMerge"))
    return loops, branches - loops


def _spread(start: Any, found: set[str], ends: tuple[str, ...]) -> None:
    stack = [start]
    while stack:
        operation = stack.pop()
        if operation.name in found or operation.type in ends:
            continue
        found.add(operation.name)
        for tensor in operation.outputs:
            stack.extend(tensor.consumers())


def check_layers(file: ModelFile, layers: Sequence[str] | None, known: Iterable[str]) -> None:
    """Refuses layer paths that `describe` does not show.

    Raises:
        BadInput: a path is unknown.
    """
    unknown = sorted(set(layers or ()) - set(known))
    if unknown:
        raise BadInput(f"Layer {unknown[0]!r} of {file.name}: expected an operator of its graph. See the layer table.")
