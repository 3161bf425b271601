"""Chosen settings as a Dockerfile, a docker command and a Kubernetes job: generated, never run by us.

Source: docs.docker.com/engine/containers/resource_constraints; kubernetes.io/docs/concepts/configuration/manage-resources-containers;
tensorflow.org/install/docker; environment variables TF_NUM_INTRAOP_THREADS, TF_NUM_INTEROP_THREADS
(tensorflow/core/common_runtime/process_util.cc) and TF_FORCE_GPU_ALLOW_GROWTH (gpu_bfc_allocator / gpu_process_state.cc).
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import shlex

from stethoscope.memory.run_settings import VARIABLES, RunSettings

RUNTIME_BYTES = 768 << 20
"""What a Python process holds once TensorFlow is imported and before it loads anything; measured 680–740 MiB with 2.21."""
_MIB = 1 << 20
_PYTHON = "3.11"
NOT_RUN = "Generated from the settings; not run on the machine that wrote it."


def container_memory_bytes(settings: RunSettings) -> int | None:
    """What the container must be allowed: the limit of the run and TensorFlow itself, in bytes; None without a limit."""
    return None if settings.memory_limit_bytes is None else settings.memory_limit_bytes + RUNTIME_BYTES


def wants_gpu(settings: RunSettings) -> bool:
    """Whether the settings are for a card."""
    sized = any(settings.logical_devices) or settings.gpu_memory_limit_bytes is not None
    return settings.device == "gpu" or (settings.device == "auto" and (sized or settings.memory_growth))


def dockerfile(name: str, settings: RunSettings, *, keras_2: bool = False) -> str:
    """An image that runs predict.py (from `recipes.python_code`) on the model file `name`."""
    packages = [f"tensorflow{'[and-cuda]' if wants_gpu(settings) else ''}=={_version('tensorflow')}"]
    packages.append(f"tf-keras=={_version('tf-keras')}" if keras_2 else f"keras=={_version('keras')}")
    variables = environment(settings)
    lines = [f"# {NOT_RUN}", f"FROM python:{_PYTHON}-slim"]
    lines.append("RUN pip install --no-cache-dir " + " ".join(shlex.quote(package) for package in packages))
    lines += [f"ENV {key}={value}" for key, value in variables.items()]
    lines += ["WORKDIR /app", f"COPY {json.dumps([name, 'predict.py', './'])}", 'CMD ["python", "predict.py"]']
    return "\n".join(lines) + "\n"


def environment(settings: RunSettings) -> dict[str, str]:
    """The environment variables with which TensorFlow has these settings from its first operation."""
    found = {"TF_CPP_MIN_LOG_LEVEL": "1"}
    if settings.allocator == "system" and not wants_gpu(settings):
        found |= VARIABLES
    if settings.intra_threads is not None:
        found["TF_NUM_INTRAOP_THREADS"] = str(settings.intra_threads)
    if settings.inter_threads is not None:
        found["TF_NUM_INTEROP_THREADS"] = str(settings.inter_threads)
    if settings.device == "cpu":
        found["CUDA_VISIBLE_DEVICES"] = "-1"
    if settings.memory_growth and wants_gpu(settings):
        found["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"
    return found


def docker_run(name: str, settings: RunSettings, *, cores: float | None = None) -> str:
    """The command that builds the image and runs it under the limits of the settings.

    Args:
        name: the model's file name.
        settings: how it is run.
        cores: processors it may use; not limited if not given.
    """
    image = image_name(name)
    words = ["docker", "run", "--rm"]
    memory = container_memory_bytes(settings)
    if memory is not None:
        size = f"{_mebibytes(memory)}m"
        words += [f"--memory={size}", f"--memory-swap={size}"]  # the same: no swap
    if cores is not None:
        words.append(f"--cpus={cores:g}")
    if wants_gpu(settings):
        words += ["--gpus", f"device={settings.gpu_index}"]
    unlimited = "" if memory is not None else f"# {no_limit('--memory=…m --memory-swap=…m')}\n"
    return (
        f"# {NOT_RUN}\n{unlimited}{shlex.join(['docker', 'build', '-t', image, '.'])}\n{shlex.join([*words, image])}\n"
    )


def kubernetes(name: str, settings: RunSettings, *, cores: float | None = None) -> str:
    """A Kubernetes job with the resources block of the settings.

    Memory is requested and limited at the same size: more than the request may be taken away at any time. Kubernetes
    gives out whole cards; a share of one is the business of the memory limit in the program.

    Args:
        name: the model's file name.
        settings: how it is run.
        cores: processors it may use; not limited if not given.
    """
    image = image_name(name)
    memory = container_memory_bytes(settings)
    requests: dict[str, str] = {}
    if memory is not None:
        requests["memory"] = f"{_mebibytes(memory)}Mi"
    if cores is not None:
        requests["cpu"] = f"{max(1, round(cores * 1000))}m"
    limits = dict(requests)
    if wants_gpu(settings):
        limits["nvidia.com/gpu"] = "1"
    variables = "".join(
        f"            - name: {key}\n              value: {json.dumps(value)}\n"
        for key, value in environment(settings).items()
    )
    unlimited = "" if memory is not None else f"# {no_limit('memory: …Mi under requests and limits')}\n"
    resources = "".join(_block(kind, sizes) for kind, sizes in (("requests", requests), ("limits", limits)) if sizes)
    return (
        f"# {NOT_RUN}\n{unlimited}apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: {image}\nspec:\n  backoffLimit: 0\n"
        "  template:\n    spec:\n      restartPolicy: Never\n      containers:\n"
        f"        - name: {image}\n          image: {image}:latest\n          env:\n{variables}"
        + (f"          resources:\n{resources}" if resources else "")
    )


def no_limit(what: str) -> str:
    """Says what to set where the settings have no memory limit."""
    return (
        f"No memory limit: one container can take the whole host. Set {what}: the peak of the prediction "
        f"and {RUNTIME_BYTES // _MIB} MiB for TensorFlow itself."
    )


def image_name(name: str) -> str:
    """A name that Docker and Kubernetes accept, from a file's: lower case, digits and hyphens, at most 50 characters."""
    stem = name.rsplit(".", 1)[0] if "." in name[1:] else name
    plain = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:40].strip("-")
    return f"predict-{plain}" if plain else "predict"


def _block(kind: str, sizes: dict[str, str]) -> str:
    rows = "".join(f"              {key}: {json.dumps(value)}\n" for key, value in sizes.items())
    return f"            {kind}:\n{rows}"


def _mebibytes(size_bytes: int) -> int:
    return -(-size_bytes // _MIB)


def _version(package: str) -> str:
    return importlib.metadata.version(package)
