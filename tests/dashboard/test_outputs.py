"""Downloads of output arrays."""

from __future__ import annotations

import io

import numpy as np

from dashboard import outputs


def test_csv_has_a_row_per_sample_and_cells_that_start_no_formula(tmp_path):
    np.save(tmp_path / "a.npy", np.array([["=1+1", 'a"b'], ["-2", "c"]]))
    rows = outputs.as_csv(tmp_path / "a.npy").decode().splitlines()
    assert rows == ["sample,value_0,value_1", '0,"\'=1+1","a""b"', '1,"\'-2","c"']


def test_csv_of_numbers_reads_back(tmp_path):
    values = np.random.default_rng(0).standard_normal((3, 2, 2)).astype(np.float32)
    np.save(tmp_path / "a.npy", values)
    read = np.genfromtxt(io.BytesIO(outputs.as_csv(tmp_path / "a.npy")), delimiter=",", skip_header=1)
    np.testing.assert_allclose(read[:, 1:], values.reshape(3, 4))


def test_npz_holds_every_output(tmp_path):
    for name in ("a", "b"):
        np.save(tmp_path / f"{name}.npy", np.ones(2))
    packed = outputs.as_npz({"dense/out:0": tmp_path / "a.npy", "../x": tmp_path / "b.npy"})
    with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
        assert sorted(arrays.files) == ["dense_out_0", "x"]


def test_a_pickle_is_not_opened(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{"x": 1}], dtype=object), allow_pickle=True)
    assert outputs.load(tmp_path / "a.npy") is None
