"""Dockerfile, docker command and Kubernetes job: the right numbers in the right places, and marked as not run."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from stethoscope.memory.container_recipes import (
    NOT_RUN,
    RUNTIME_BYTES,
    container_memory_bytes,
    docker_run,
    dockerfile,
    image_name,
    kubernetes,
)
from stethoscope.memory.run_settings import RunSettings

GIB = 1 << 30
CPU = RunSettings(device="cpu", intra_threads=2, memory_limit_bytes=2 * GIB)
GPU = RunSettings(device="gpu", gpu_index=1, memory_growth=True)


def test_the_container_holds_the_run_and_tensorflow_itself():
    assert container_memory_bytes(CPU) == 2 * GIB + RUNTIME_BYTES
    assert container_memory_bytes(RunSettings()) is None


def test_dockerfile():
    text = dockerfile("my model.keras", CPU)
    assert NOT_RUN in text
    assert "ENV TF_NUM_INTRAOP_THREADS=2" in text
    assert "ENV CUDA_VISIBLE_DEVICES=-1" in text
    assert 'COPY ["my model.keras", "predict.py", "./"]' in text
    assert re.search(r"tensorflow==\d+\.\d+", text)
    card = dockerfile("m.keras", GPU, keras_2=True)
    assert "tensorflow[and-cuda]==" in card
    assert "tf-keras==" in card
    assert "TF_FORCE_GPU_ALLOW_GROWTH=true" in card


def test_docker_run():
    words = shlex.split(docker_run("My Model.keras", CPU, cores=1.5), comments=True)
    assert "--memory=2816m" in words
    assert "--memory-swap=2816m" in words
    assert "--cpus=1.5" in words
    assert "--gpus" not in words
    assert words[-1] == "predict-my-model"
    assert "device=1" in shlex.split(docker_run("m.keras", GPU), comments=True)


def test_kubernetes_job():
    rows = rows_of(kubernetes("m.keras", CPU, cores=2))
    limits = rows.index(("limits", ""))
    assert ("memory", "2816Mi") in rows[limits:]
    assert ("cpu", "2000m") in rows[limits:]
    assert rows.count(("memory", "2816Mi")) == 2
    assert ("nvidia.com/gpu", "1") in rows_of(kubernetes("m.keras", GPU))
    assert "resources" not in kubernetes("m.keras", RunSettings())


def rows_of(text: str) -> list[tuple[str, str]]:
    """(key, value) of each line of the simple YAML that is printed; its indentation must be even."""
    rows = []
    for line in text.splitlines():
        if not line.startswith("#"):
            assert (len(line) - len(line.lstrip())) % 2 == 0
            key, _, value = line.strip().removeprefix("- ").partition(":")
            rows.append((key, json.loads(value) if value.strip().startswith('"') else value.strip()))
    return rows


@pytest.mark.parametrize("name", ["", "…", "A B_c.keras", "x" * 300, "-rf.h5", ".keras"])
def test_names_that_docker_and_kubernetes_accept(name):
    assert re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", image_name(name))
