"""TensorFlow's pool, against what TensorFlow's own log says of it."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from stethoscope.memory.pool import Pool

MIB = 1 << 20
CALLS = """
import tensorflow as tf
a = tf.zeros((3 << 20,), tf.int8); b = tf.zeros((5 << 20,), tf.int8); c = tf.zeros((2 << 20,), tf.int8)
del b
d = tf.zeros((4 << 20,), tf.int8); e = tf.zeros((300 << 10,), tf.int8)
del a, c
f = tf.zeros((9 << 20,), tf.int8); g = tf.zeros((1 << 20,), tf.int8); h = tf.zeros((40 << 20,), tf.int8)
del d, e, f
i = tf.zeros((12 << 20,), tf.int8)
"""


def test_regions_double_and_what_was_written_is_kept():
    pool = Pool()
    first = pool.allocate(3 * MIB)
    pool.free(first)
    pool.allocate(3 * MIB)
    assert (pool.region_bytes, pool.kept_bytes) == ([4 * MIB], 3 * MIB)
    pool.allocate(9 * MIB)
    assert (pool.region_bytes, pool.kept_bytes) == ([4 * MIB, 16 * MIB], 12 * MIB)


def test_free_neighbours_are_joined_and_the_smallest_that_is_large_enough_is_taken():
    pool = Pool()
    small, large, last = pool.allocate(MIB), pool.allocate(3 * MIB // 4), pool.allocate(3 * MIB)
    kept = pool.kept_bytes
    pool.free(small)
    pool.free(large)
    pool.allocate(7 * MIB // 4)
    assert pool.kept_bytes == kept
    pool.free(last)
    pool.allocate(2 * MIB)
    assert pool.kept_bytes == kept


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="TensorFlow has this pool on Linux only")
def test_tensorflow_takes_the_same_regions_for_the_same_blocks():
    environment = {"TF_CPP_MIN_LOG_LEVEL": "0", "TF_CPP_VMODULE": "bfc_allocator=4", "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run([sys.executable, "-c", CALLS], env=environment, capture_output=True, text=True, check=True)
    pool, blocks, regions = Pool(), {}, []
    for line in done.stderr.splitlines():
        made, freed = (
            re.search(r"\] AllocateRaw mklcpu  (\d+) (0x\w+)", line),
            re.search(r"] Dealloc\w+,mklcpu,\d+,(0x\w+)", line),
        )
        grown = re.search(r"Extending allocation by ([\d.]+)MiB", line)
        if made:
            blocks[made[2]] = pool.allocate(int(made[1]))
        elif freed:
            pool.free(blocks.pop(freed[1]))
        elif grown:
            regions.append(int(float(grown[1]) * MIB))
    if not regions:
        pytest.skip("this TensorFlow was built without oneDNN")
    assert pool.region_bytes == regions
