"""YAML as YAML 1.2 has it, and hostile files that must not cost time, memory or the process."""

from __future__ import annotations

import math

from hypothesis import example, given
from hypothesis import strategies as st

from stethoscope.logs.dvc_values import flatten, read_yaml
from tests.exploring import examples
from tests.tables import each


def read(folder, text, **options):
    path = folder / "a.yaml"
    path.write_text(text, "utf-8")
    return read_yaml(path, **options)


def test_numbers_are_what_people_mean(tmp_path):
    found = read(
        tmp_path, "lr: 1e-3\nid: 010\nmode: on\nhex: 0x1F\nnone: ~\nday: 2020-01-01\nratio: 1:30\nyes: true\n3: x\n"
    )
    assert found == {
        "lr": 0.001,
        "id": 10,
        "mode": "on",
        "hex": 31,
        "none": None,
        "day": "2020-01-01",
        "ratio": "1:30",
        "yes": True,
        "3": "x",
    }
    ends = read(tmp_path, "a: .nan\nb: -.inf\nc: 1" + "0" * 5000)
    assert math.isnan(ends["a"])
    assert ends["b"] == -math.inf
    assert isinstance(ends["c"], str)


def test_texts_stay_as_written(tmp_path):
    assert read(tmp_path, "run_name: 007\nend_time: null\n", texts=True) == {"run_name": "007", "end_time": "null"}


@each(
    "text",
    [
        "a: " + "[" * 100_000,
        "a: " + "[" * 1500 + "]" * 1500,
        "!!python/object/apply:os.system ['true']",
        "- 1",
        "",
        "a: !!int x",
        "? [a]\n: 1",
        "a: *b",
        "a: 'b",
        "\x01",
    ],
)
def test_what_is_no_plain_mapping_is_nothing(tmp_path, text):
    assert read(tmp_path, text) is None


def test_aliases_and_merge_keys_do_not_multiply(tmp_path):
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 10)}]" for at in range(1, 12)]
    lines += [f"m{at}: &m{at} {{'<<': [{', '.join([f'*m{at - 1}'] * 10)}]}}" for at in range(1, 12)]
    found = read(tmp_path, "\n".join(lines).replace("*m0", "*a0"))
    assert 0 < len(flatten(found)) <= 50_000
    assert flatten(read(tmp_path, "a: &a [*a, 1]\nb: 2"))["b"] == 2


def test_nested_values_get_dotted_names():
    assert flatten({"a": {"b": [1, {"c": 2}]}, "d": None, "e": {}}) == {"a.b.0": 1, "a.b.1.c": 2, "d": None}


@examples(100)
@given(st.binary(max_size=300) | st.text("abc:{}[]&*!- \n'\"?|>#%", max_size=100).map(str.encode), st.booleans())
@example(b'a: !!int ""', True)
@example(b"a: !!timestamp x", True)
@example(b"a: !!bool x", False)
def test_foreign_bytes_never_raise(tmp_path_factory, content, texts):
    path = tmp_path_factory.mktemp("yaml") / "a.yaml"
    path.write_bytes(content)
    assert isinstance(read_yaml(path, texts=texts), dict | None)
