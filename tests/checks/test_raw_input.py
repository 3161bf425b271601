"""Texts and pictures as they are: which step is offered, with the model's own vocabulary, length and size."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from stethoscope.checks import all_checks
from stethoscope.checks.findings import Severity
from stethoscope.checks.judging.examination import ranked
from stethoscope.data.study.profiles import Unprepared
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.types import Architecture

CHECK = all_checks()["raw-input"]
MODEL = Architecture("keras", "", 0, 0, (), (), ())


def found(*raw):
    return tuple(CHECK.run(EvidenceSet(architecture=MODEL, raw=raw)))


def text(name, shape=(64,), dtype="int32", vocabulary=None):
    return Unprepared(name, "text", "x", shape, dtype, vocabulary is not None, vocabulary, 9, 30)


def test_words_are_numbered_with_the_models_own_vocabulary_and_length():
    (finding,) = found(text("tokens", (32,), vocabulary=5_000))
    assert finding.severity is Severity.CRITICAL and finding.where == "input:tokens"
    assert "max_tokens=5000" in finding.fix.code() and "output_sequence_length=32" in finding.fix.code()
    ast.parse(finding.fix.code())
    (open_length,) = found(text("tokens", (None,), vocabulary=5_000))
    assert "output_sequence_length" not in open_length.fix.code()


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        (("input_ids", "input_mask", "segment_ids"), ("input_ids", "attention_mask", "token_type_ids")),
        (("input_word_ids", "attention_mask", "input_type_ids"), ("input_ids", "attention_mask", "token_type_ids")),
    ],
)
def test_ids_mask_and_segments_come_from_one_tokenizer(names, parts):
    (finding,) = found(*(text(name, vocabulary=30_522 if name == names[0] else None) for name in names))
    code = finding.fix.code()
    ast.parse(code)
    assert '"bert-base-uncased"' in code and "max_length=64" in code
    assert all(f'"{name}": found["{part}"]' in code for name, part in zip(names, parts, strict=True))


def test_what_is_not_known_is_not_made_up():
    (features,) = found(text("features", (300,), "float32"))
    assert "TextVectorization" not in features.fix.code() and "Tokenizer" not in features.fix.code()
    (unknown,) = found(text("left", vocabulary=777), text("right", vocabulary=777))
    assert "from_pretrained" not in unknown.fix.code()


def test_pictures_have_the_step_that_was_tried():
    picture = Unprepared(
        "image",
        "picture",
        "x",
        (64, 64, 3),
        "float32",
        sizes=((60, 90, 3), (80, 60, 3)),
        different_sizes=48,
        low=0.0,
        high=255.0,
        steps=("resize 64×64",),
        code="x = resized(x)",
    )
    (finding,) = found(picture)
    assert finding.fix.code() == "x = resized(x)" and "48" in finding.message and "60×90×3" in finding.message


def test_it_stands_in_front():
    shape = all_checks()["input-shape"]
    (finding,) = found(text("tokens", vocabulary=5_000))
    first, *others = ranked(
        [replace(finding, check_id="raw-input"), replace(finding, check_id=shape.id, confidence=0.97)], all_checks()
    )
    assert first.check_id == "raw-input" and not others
    assert not found() and not tuple(CHECK.run(EvidenceSet(architecture=MODEL)))
