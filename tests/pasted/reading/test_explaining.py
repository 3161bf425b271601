"""Pasted texts as they come: coloured, cut off, chained, inside noise, hostile, or nothing to explain."""

from __future__ import annotations

import random

import pytest

from stethoscope.pasted.messages import all_messages
from stethoscope.pasted.reading.explaining import explain, of_kind

AXIS = (
    'ValueError: Input 0 of layer "dense_2" is incompatible with the layer: expected axis -1 of input shape to have '
    "value 64, but received input with shape (None, 128)"
)
PLAIN = f"""Traceback (most recent call last):
  File "/home/ada/train.py", line 31, in main
    model.fit(x, y)
  File "/home/ada/venv/lib/python3.11/site-packages/keras/src/utils/traceback_utils.py", line 122, in error_handler
    raise e.with_traceback(filtered_tb) from None
{AXIS}
"""
NOTEBOOK = f"""---------------------------------------------------------------------------
ValueError                                Traceback (most recent call last)
Cell In[7], line 3
      1 model.compile("adam", "mse")
      2 # training
----> 3 model.fit(x, y)

File ~/venv/lib/python3.11/site-packages/keras/src/utils/traceback_utils.py:122, in filter_traceback.<locals>.error_handler(*args, **kwargs)
    119     filtered_tb = _process_traceback_frames(e.__traceback__)
--> 122     raise e.with_traceback(filtered_tb) from None

{AXIS}
"""
OLD_NOTEBOOK = f"""<ipython-input-12-6d84> in <module>()
----> 1 model.fit(x, y)

/usr/local/lib/python3.6/site-packages/keras/engine/training.py in fit(self, x, y)
    950 pass
{AXIS}
"""
WINDOWS = rf"""Traceback (most recent call last):
  File "C:\Users\Ada\digits\train.py", line 12, in <module>
    model.fit(x, y)
  File "C:\Users\Ada\AppData\Local\Programs\Python\Lib\site-packages\keras\src\models\model.py", line 9, in fit
    pass
{AXIS}
"""
GRAPH = """tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:

Detected at node 'sequential/embedding/embedding_lookup' defined at (most recent call last):
    File "/home/ada/train.py", line 8, in <module>
      model.fit(x, y)
    File "/usr/lib/python3/site-packages/keras/engine/training.py", line 1555, in fit
      tmp_logs = self.train_function(iterator)
Node: 'sequential/embedding/embedding_lookup'
indices[3,5] = 512 is not in [0, 500)
\t [[{{node sequential/embedding/embedding_lookup}}]] [Op:__inference_train_function_860]
"""
LOG = """2024-01-05 10:00:00.123456: I tensorflow/core/platform/cpu_feature_guard.cc:182] This TensorFlow binary is optimized to use available CPU instructions in performance-critical operations.
2024-01-05 10:00:01.123456: I external/local_tsl/tsl/cuda/cudart_stub.cc:31] Could not find cuda drivers on your machine, GPU will not be used.
Epoch 1/3
32/32 - 1s - 31ms/step - accuracy: 0.4180 - loss: 1.9123
"""


@pytest.mark.parametrize(
    "text, place, line",
    [
        (PLAIN, "/home/ada/train.py", 31),
        (NOTEBOOK, "In[7]", 3),
        (OLD_NOTEBOOK, "ipython-input-12", 1),
        (WINDOWS, r"C:\Users\Ada\digits\train.py", 12),
    ],
    ids=["plain", "notebook", "old notebook", "windows"],
)
def test_the_users_own_line_is_named(text, place, line):
    answer = explain(text)
    assert answer.kind == "input-axis" and answer.certainty == "certain"
    assert place in answer.where.file and answer.where.line == line


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("ValueError", "\x1b[0;31mValueError\x1b[0m"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: LOG + text + LOG,
        lambda text: "\n".join(f"[worker-1] {line}" for line in text.splitlines()),
        lambda text: "\n".join(f"> {line}" for line in text.splitlines()),
        lambda text: "\n".join(f"2024-05-01T10:00:00.123Z {line}" for line in text.splitlines()),
        lambda text: text.replace("expected axis -1 of input", "expected axis -1\nof input"),
        lambda text: text.replace("\n", "\\n").replace('"', '\\"'),
        lambda text: "```python\n" + text + "```",
        lambda text: "I get this, what can I do?\n\n" + text + "\nThanks!",
        lambda text: text.splitlines()[-1],
    ],
    ids=[
        "colours",
        "line ends",
        "log around",
        "prefix",
        "quoted in mail",
        "times",
        "wrapped",
        "one line of JSON",
        "fenced",
        "in a letter",
        "bare",
    ],
)
def test_noise_around_a_message_does_no_harm(change):
    assert explain(change(PLAIN)).kind == "input-axis"


def test_in_a_graph_the_message_stands_after_the_node():
    answer = explain(GRAPH)
    assert answer.kind == "index-beyond-table"
    assert {"512", "500"} <= {one.value for one in answer.read}
    assert answer.where.file == "/home/ada/train.py"


def test_of_a_chain_the_last_is_told_and_its_root_is_found():
    chain = PLAIN + (
        "\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n"
        '  File "/home/ada/train.py", line 40, in <module>\n    main()\nRuntimeError: training failed\n'
    )
    answer = explain(chain)
    assert answer.exception == "RuntimeError"
    assert "input-axis" in {card.kind for card in answer.cards}


def test_unknown_is_said_as_unknown_with_the_line_it_points_to():
    answer = explain(PLAIN.replace(AXIS, "ValueError: the moon is not in its place"))
    assert answer.kind is None and answer.certainty == "unknown"
    assert "moon" in answer.telling_line and answer.where.line == 31


@pytest.mark.parametrize("text", ["", " \n", LOG, "All went well.", "Killed the learning rate and it works."])
def test_what_is_no_error_gets_no_cause(text):
    answer = explain(text)
    assert answer.kind is None and not answer.cards


def test_lines_that_mean_nothing_are_named_as_such():
    assert {notice.kind for notice in explain(LOG).notices} == {"notice-cpu-features", "notice-no-cuda"}


def test_a_warning_before_another_error_is_no_cause_of_it():
    noise = "W tensorflow/core/framework/allocator.cc:107] Allocation of 67141632 exceeds 10% of free system memory.\n"
    answer = explain(noise + PLAIN)
    assert answer.kind == "input-axis"
    unknown = explain(noise + PLAIN.replace(AXIS, "KeyError: 'moon'"))
    assert unknown.kind is None


def test_the_epoch_in_which_the_loss_became_nan_is_the_first():
    log = "".join(f"Epoch {n}/5\n100/100 - 3s - loss: {'nan' if n > 2 else '0.5'}\n" for n in range(1, 6))
    answer = explain(log)
    assert answer.kind == "loss-became-nan" and "epoch 3" in answer.cause


def test_a_kind_by_itself_explains_without_a_message():
    for kind in all_messages():
        answer = of_kind(kind)
        assert answer is not None and answer.cause, kind
    assert of_kind("no-such-kind") is None


def hostile() -> dict[str, str]:
    words = [wording.has for message in all_messages().values() for wording in message.wordings]
    shuffled = random.Random(5)
    return {
        "one letter": "a" * (1 << 20),
        "brackets": "(" * (1 << 20),
        "shapes": "(None, 1), " * 90_000,
        "blanks": " " * (1 << 20),
        "every phrase": (" ".join(words) + "\n") * (1 + (1 << 20) // len(" ".join(words))),
        "half phrases": "\n".join(shuffled.choice(words)[:-3] + "'" * 40 for _ in range(20_000)),
        "frames": '  File "/a/b.py", line 1, in f\n    x\n' * 30_000,
        "tracebacks": PLAIN * 1_500,
        "node": "\t [[{{node " * 90_000,
        "escapes": "\x1b[" * (1 << 19),
        "nul": "\x00" * (1 << 20),
        "surrogates": "\ud800" * 10_000,
    }


HOSTILE = hostile()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", list(HOSTILE))
def test_a_hostile_text_is_answered(name):
    answer = explain(HOSTILE[name])
    assert len(answer.telling_line) < 2_000 and len(answer.cards) < 10
