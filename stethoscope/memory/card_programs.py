"""Lines of Python about a card, to copy: taking one with a limit, who holds its memory now, what TensorFlow holds of it.

TensorFlow takes what is asked of "/GPU:0" to the CPU without a word where there is no card (seen with 2.21), and a list of
cards has no first one there: the printed programs say so in a sentence instead.

Source: tensorflow.org/guide/gpu; tf.config.experimental.get_memory_info and reset_memory_stats; nvidia-smi(1), --help-query-compute-apps;
NVML API reference, nvmlDeviceGetComputeRunningProcesses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_MIB = 1 << 20


def choose_card(index: int) -> list[str]:
    """Lines that make `gpu` the card of that number and hide the others; `tf` is imported, no operation has run."""
    return [
        'gpus = tf.config.list_physical_devices("GPU")',
        f"if len(gpus) <= {index}:",
        f'    raise SystemExit(f"Here TensorFlow sees {{len(gpus)}} GPUs: number {index} is not there.")',
        f"gpu = gpus[{index}]",
        'tf.config.set_visible_devices([gpu], "GPU")',
    ]


def limit_card(index: int, limit_bytes: int) -> list[str]:
    """Lines after which this process has one logical device of `limit_bytes` on the card, called "/GPU:0"."""
    return [
        "# Before the first operation: afterwards TensorFlow refuses.",
        *choose_card(index),
        "tf.config.set_logical_device_configuration(",
        f"    gpu, [tf.config.LogicalDeviceConfiguration(memory_limit={max(1, limit_bytes // _MIB)})]  # MiB",
        ")",
    ]


def need_cards(count: int) -> list[str]:
    """Lines that end the program with a sentence where there are fewer cards than it is written for."""
    return [
        f'if len(tf.config.list_logical_devices("GPU")) < {count}:',
        f'    raise SystemExit("This program is for {count} GPU{"" if count == 1 else "s"}, and TensorFlow sees fewer here.")',
    ]


@dataclass(frozen=True)
class Snippet:
    """Something to copy."""

    title: str
    code: str
    language: str
    """"bash" or "python"."""
    note: str = ""


_ASK_DRIVER = """nvidia-smi --query-gpu=index,name,memory.used,memory.free --format=csv
nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name,used_memory --format=csv
"""
_ASK_NVML = """import pynvml  # pip install nvidia-ml-py

try:
    pynvml.nvmlInit()
except pynvml.NVMLError as error:
    raise SystemExit(f"No NVIDIA driver answers here: {error}.") from None
for index in range(pynvml.nvmlDeviceGetCount()):
    card = pynvml.nvmlDeviceGetHandleByIndex(index)
    memory = pynvml.nvmlDeviceGetMemoryInfo(card, version=pynvml.nvmlMemory_v2)  # as nvidia-smi says
    print(f"card {index}: {memory.used / 2**20:,.0f} of {memory.total / 2**20:,.0f} MiB in use")
    for process in pynvml.nvmlDeviceGetComputeRunningProcesses(card):
        held = process.usedGpuMemory  # None where the driver does not say, as in many containers
        print(f"  process {process.pid}: {'?' if held is None else f'{held / 2**20:,.0f} MiB'}")
"""
_ASK_TENSORFLOW = '''import tensorflow as tf

device = "GPU:0" if tf.config.list_logical_devices("GPU") else "CPU:0"


def memory():
    """What TensorFlow's tensors hold on the device: now, and at most since the last reset."""
    held = tf.config.experimental.get_memory_info(device)
    return f"{device}: {held['current'] / 2**20:,.1f} MiB now, {held['peak'] / 2**20:,.1f} MiB at most"


try:
    tf.config.experimental.reset_memory_stats(device)
except ValueError:
    raise SystemExit(f"TensorFlow keeps no account of {device} here.") from None
result = tf.random.normal((1024, 1024)) @ tf.random.normal((1024, 1024))  # your own call here
print(memory())
'''


def who_holds() -> tuple[Snippet, ...]:
    """How to see who holds the card now, from outside and from within TensorFlow."""
    return (
        Snippet(
            "Who holds the card now",
            _ASK_DRIVER,
            "bash",
            "A TensorFlow process that was given no limit shows nearly the whole card, whatever its model needs. Other "
            "users' processes, and those outside a container, may be missing from the list; their memory is counted.",
        ),
        Snippet("The same from Python", _ASK_NVML, "python"),
        Snippet(
            "What TensorFlow holds of it",
            _ASK_TENSORFLOW,
            "python",
            "Bytes in tensors and variables, not what the process took of the card: the difference is free for its next "
            "tensors, and for no other process.",
        ),
    )


def named_devices(sizes: Sequence[int]) -> str:
    """A comment that says what logical devices are called."""
    names = ", ".join(f"/GPU:{place}" for place in range(len(sizes)))
    return (
        f"# They are called {names}. TensorFlow knows no /virtual_gpu:0, whatever articles say: it raises ValueError."
    )
