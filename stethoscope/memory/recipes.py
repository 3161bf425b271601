"""The Python that runs a model under chosen settings, to copy: complete programs, valid and runnable as printed.

Source: tensorflow.org/guide/gpu, tensorflow.org/guide/mixed_precision, getrlimit(2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stethoscope.architecture.open_sizes import OpenSizes, sizes_of_file, sizes_to_try
from stethoscope.devices import Machine
from stethoscope.errors import CannotRun
from stethoscope.memory.card_programs import choose_card, named_devices
from stethoscope.memory.container_recipes import wants_gpu
from stethoscope.memory.refusals import put_right, refusals
from stethoscope.memory.run_settings import MAPPED_FROM_BYTES, POOL_VARIABLE, RunSettings
from stethoscope.models.formats import format_of
from stethoscope.models.model_format import Format
from stethoscope.types import Architecture, GivenCode, TensorSpec

_MIB = 1 << 20
"""Stands in for a dimension that the model leaves open."""

_POLICY_FUNCTION = '''def with_policy(item, policy):
    """A serialised model in which every layer's dtype policy is `policy`."""
    if isinstance(item, (list, tuple)):
        return [with_policy(part, policy) for part in item]
    if not isinstance(item, dict) or item.get("class_name") in SKIPPED:
        return item
    changed = {
        key: "zeros" if key.endswith("_initializer") and value else with_policy(value, policy)
        for key, value in item.items()
    }
    config = item.get("config")
    if isinstance(item.get("class_name"), str) and isinstance(config, dict) and "dtype" in config:
        dtype = config["dtype"]
        name = dtype["config"].get("name", "") if isinstance(dtype, dict) else str(dtype)
        layer = not str(item.get("module")).startswith("keras.src.ops")
        changed["config"]["dtype"] = policy if layer and "float" in name and "_from_" not in name else dtype
    return changed
'''
_SKIPPED = (
    'SKIPPED = {"InputLayer", "Cast", "DTypePolicy", "Policy", "DTypePolicyMap", "__keras_tensor__", "__tensor__", '
    '"TFOpLambda"}'
)


def python_code(
    name: str,
    settings: RunSettings,
    specs: Sequence[TensorSpec],
    *,
    format_: Format,
    keras_2: bool = False,
    samples: int | None = None,
    inputs: Sequence[str] = (),
    sizes: OpenSizes | None = None,
    not_run: Sequence[str] = (),
    given: GivenCode | None = None,
) -> str:
    """A program that loads a file and predicts under `settings`.

    Args:
        name: the model's file name; always printed as a Python literal.
        settings: how it is to be run.
        specs: the model's inputs, in its own order.
        format_: of the file: one that TensorFlow runs and that can be trained.
        keras_2: whether the file is of Keras 2 (then tf_keras loads it).
        samples: rows of random input; one batch if not given.
        inputs: lines that bind `inputs`, an array by input name, instead of random input.
        sizes: of what the inputs leave open, for random input; without, what a run assumes first.
        not_run: why the program was not run here, if it was not: printed at its top.
        given: the code that was given beside it.

    Raises:
        CannotRun: TensorFlow does not run files of this format, or not in that call style or precision.
    """
    keras = format_.live
    if not format_.trainable:
        raise CannotRun(
            f"Code for {name}: expected a Keras model or a SavedModel, got {format_.title}. Use its own runtime."
        )
    plain = RunSettings()
    if not keras and (settings.call, settings.precision) != (plain.call, plain.precision):
        raise CannotRun(f'Code for {name}: a SavedModel has one call style and precision, "function" and "as saved".')
    module = "tf_keras" if keras_2 else "keras"
    lines = [*(f"# Not run on this machine: {sentence}" for sentence in _one_line(not_run))]
    lines += _allocation(settings)
    if settings.memory_limit_bytes is not None:
        lines.append("import resource  # Linux and macOS\n")
    lines.append("import numpy as np\nimport tensorflow as tf\n")
    lines += before_the_first_operation(settings)
    if keras:
        own = given if given is not None and given.names else None
        lines.append(f"import {module}{' as keras' if keras_2 else ''}" + ("" if own else "\n"))
        lines += [] if own is None else [f"{own.statement}\n"]
        lines.append(f"model = keras.models.load_model({name!r}, compile=False{own.objects if own else ''})\n")
        lines += _precision(settings)
    else:
        lines.append(f"loaded = tf.saved_model.load({_folder(name)!r})  # the unpacked folder")
        lines.append('model = loaded.signatures["serving_default"]\n')
    told = sizes or next(sizes_to_try(specs))
    lines += [*(inputs or _random_inputs(told, samples or settings.batch_size)), ""]
    lines += _limit(settings, specs, keras)
    lines += _calls(settings, specs, keras)
    return "\n".join(lines) + "\n"


def _allocation(settings: RunSettings) -> list[str]:
    if settings.allocator != "system" or wants_gpu(settings):
        return []
    return [
        "import ctypes",
        "import os",
        "",
        "# Freed memory is given back at once, as it was where this was measured. TensorFlow's own pool is faster, but",
        "# grows by doubling and keeps what it has: leave these lines out, and expect a higher peak.",
        f'os.environ["{POOL_VARIABLE}"] = "1"',
        'libc = ctypes.CDLL(None) if os.name == "posix" else None',
        'if hasattr(libc, "mallopt"):  # the C library of most Linux systems',
        f"    libc.mallopt(-3, {MAPPED_FROM_BYTES})  # blocks from this size are mapped on their own",
        "    libc.mallopt(-8, 1)  # one arena for all threads",
        "",
    ]


def program_for(name: str, architecture: Architecture, chosen: RunSettings, machine: Machine) -> str:
    """The program for settings as a person chose them, what TensorFlow refuses anywhere put right; its top says if it was not run.

    Args:
        name: the model's file name.
        architecture: what `describe` gives.
        chosen: how it is to be run.
        machine: where we are.

    Raises:
        CannotRun: as `python_code`.
    """
    accepted = put_right(chosen, machine)
    on_card = replace(accepted, device="gpu") if wants_gpu(accepted) else accepted
    missing = [refusal.message for refusal in refusals(on_card, machine) if refusal.kind == "not here"]
    format_ = format_of(architecture)
    sizes = next(sizes_to_try(architecture.inputs, of_file=sizes_of_file(architecture.layers)))
    return python_code(
        name,
        accepted,
        architecture.inputs,
        format_=format_,
        keras_2=architecture.of_keras_2,
        sizes=sizes,
        not_run=missing,
        given=architecture.given,
    )


def before_the_first_operation(settings: RunSettings) -> list[str]:
    """Lines that configure TensorFlow; they belong before anything else that uses it."""
    lines: list[str] = []
    if settings.intra_threads is not None:
        lines.append(f"tf.config.threading.set_intra_op_parallelism_threads({settings.intra_threads})")
    if settings.inter_threads is not None:
        lines.append(f"tf.config.threading.set_inter_op_parallelism_threads({settings.inter_threads})")
    if settings.device == "cpu":
        lines.append('tf.config.set_visible_devices([], "GPU")')
    wants_card = settings.memory_growth or settings.gpu_memory_limit_bytes is not None or any(settings.logical_devices)
    if settings.device == "gpu" or wants_card:
        lines += choose_card(settings.gpu_index)
        if settings.memory_growth:
            lines.append("tf.config.experimental.set_memory_growth(gpu, True)")
        sizes = settings.logical_devices or (
            (settings.gpu_memory_limit_bytes,) if settings.gpu_memory_limit_bytes is not None else ()
        )
        if sizes:
            lines += _logical("gpu", [f"memory_limit={max(1, size // _MIB)}" for size in sizes], "  # MiB")
        if len(sizes) > 1:
            lines.append(named_devices(sizes))
    elif settings.logical_devices:
        lines.append('cpu = tf.config.list_physical_devices("CPU")[0]')
        lines += _logical("cpu", [""] * len(settings.logical_devices), "")
    if lines:
        return ["# Before the first operation: afterwards TensorFlow refuses.", *lines, ""]
    return []


def _logical(device: str, arguments: Sequence[str], unit: str) -> list[str]:
    return [
        "tf.config.set_logical_device_configuration(",
        f"    {device},",
        "    [",
        *(f"        tf.config.LogicalDeviceConfiguration({argument}),{unit}" for argument in arguments),
        "    ],",
        ")",
    ]


def _precision(settings: RunSettings) -> list[str]:
    policy = settings.precision
    if policy == "as saved":
        return []
    return [
        "# Layers keep the dtype policy they were saved with: the model is rebuilt under another, and its weights copied.",
        f'# In a program that builds the model, keras.mixed_precision.set_dtype_policy("{policy}") before building does it.',
        _SKIPPED,
        "",
        "",
        _POLICY_FUNCTION,
        "",
        "described = keras.saving.serialize_keras_object(model)",
        'described.pop("compile_config", None)',
        f'rebuilt = keras.saving.deserialize_keras_object(with_policy(described, "{policy}"))',
        "for old, new in zip(model.weights, rebuilt.weights, strict=True):",
        "    new.assign(np.asarray(old))",
        "model = rebuilt",
        "",
    ]


def _random_inputs(sizes: OpenSizes, samples: int) -> list[str]:
    lines = ["rng = np.random.default_rng(0)", "inputs = {"]
    for spec in sizes.inputs:
        shape = sizes.shape(spec, samples)
        if spec.dtype == "string":
            value = f'np.full({shape}, "text", dtype=object)'
        elif spec.dtype == "bool":
            value = f"rng.random({shape}) < 0.5"
        elif spec.dtype.startswith(("int", "uint")):
            value = f'rng.integers(0, 2, {shape}).astype("{spec.dtype}")  # keep within the vocabulary'
        else:
            kind = spec.dtype if spec.dtype in ("float16", "float64") else "float32"
            value = f'rng.standard_normal({shape}).astype("{kind}")'
        code, _, comment = value.partition("  #")
        lines.append(f"    {spec.name!r}: {code},{'  #' + comment if comment else ''}")
    return [*lines, "}"]


def _limit(settings: RunSettings, specs: Sequence[TensorSpec], keras: bool) -> list[str]:
    if settings.memory_limit_bytes is None:
        return []
    first = "{name: values[:1] for name, values in inputs.items()}"
    warm = f"first = {first}\n{_argument('first', specs, keras, 'warm')}"
    return [
        "# The limit is set after a first small call: before it, running out of memory aborts instead of raising.",
        "# It counts what is mapped, touched or not: without oneDNN, convolutions map several times what they touch.",
        warm,
        f"model({'**' if not keras else ''}warm)",
        "",
        "with open('/proc/self/status') as status:",
        "    rows = dict(line.split(':', 1) for line in status if ':' in line)",
        "    held_bytes = 1024 * int(rows['VmData'].split()[0])",
        "hard = resource.getrlimit(resource.RLIMIT_DATA)[1]",
        f"resource.setrlimit(resource.RLIMIT_DATA, (held_bytes + {settings.memory_limit_bytes}, hard))",
        "",
    ]


def _argument(source: str, specs: Sequence[TensorSpec], keras: bool, target: str) -> str:
    """A line that makes what the model is called with from a dict of arrays."""
    if not keras:
        return f"{target} = {{name: tf.constant(values) for name, values in {source}.items()}}"
    if len(specs) == 1:
        return f"{target} = next(iter({source}.values()))"
    return f"{target} = [{source}[name] for name in {[spec.name for spec in specs]!r}]"


def _calls(settings: RunSettings, specs: Sequence[TensorSpec], keras: bool) -> list[str]:
    compiled = settings.xla or settings.call == "compiled"
    if keras and settings.call == "predict":
        return [
            f"model.jit_compile = {settings.xla}",
            _argument("inputs", specs, keras, "x"),
            f"outputs = model.predict(x, batch_size={settings.batch_size}, verbose=0)  # keeps every batch's outputs",
        ]
    before, call = [], "model(batch)"
    if keras and settings.call == "predict_on_batch":
        before, call = [f"model.jit_compile = {settings.xla}"], "model.predict_on_batch(batch)"
    elif not keras:
        call = "model(**batch)"
        if compiled:
            before, call = ["run = tf.function(lambda batch: model(**batch), jit_compile=True)"], "run(batch)"
    elif settings.call in ("function", "compiled"):
        option = "jit_compile=True" if compiled else "reduce_retracing=True"
        before, call = [f"run = tf.function(lambda batch: model(batch), {option})"], "run(batch)"
    return [
        *before,
        f"batch_size = {settings.batch_size}",
        "samples = len(next(iter(inputs.values())))",
        "results = []",
        "for start in range(0, samples, batch_size):",
        "    rows = {name: values[start : start + batch_size] for name, values in inputs.items()}",
        "    " + _argument("rows", specs, keras, "batch"),
        *(
            ["    batch = tf.nest.map_structure(tf.constant, batch)"]
            if keras and settings.call != "predict_on_batch"
            else []
        ),
        f"    results.append({call})",
    ]


def _folder(name: str) -> str:
    return name.split(".", maxsplit=1)[0] or "model"


def _one_line(sentences: Sequence[str]) -> list[str]:
    return [" ".join(sentence.split()) for sentence in sentences]
