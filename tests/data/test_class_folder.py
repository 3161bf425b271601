"""WAV files of every width, single and in folders by class."""

from __future__ import annotations

import io
import struct
import wave
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.data.streams.wav_sound import read_wav
from stethoscope.errors import StethoscopeError, UnreadableFile
from tests.data.opened import opened, put
from tests.exploring import examples
from tests.tables import each

TONE = np.sin(np.arange(200) / 5)


def pcm(width: int = 2, channels: int = 1, rate: int = 8_000, tone=TONE) -> bytes:
    stream = io.BytesIO()
    with wave.open(stream, "wb") as sound:
        sound.setnchannels(channels)
        sound.setsampwidth(width)
        sound.setframerate(rate)
        scaled = (tone * (2 ** (8 * width - 1) - 1)).astype(np.int64) + (128 if width == 1 else 0)
        frames = (int(one).to_bytes(width, "little", signed=width > 1) * channels for one in scaled)
        sound.writeframes(b"".join(frames))
    return stream.getvalue()


def floats(bits: int = 32, extensible: bool = False) -> bytes:
    """Samples as floats; the code of an extensible header says only that the true one stands behind."""
    body = TONE.astype(f"<f{bits // 8}").tobytes()
    form = struct.pack("<HHIIHH", 0xFFFE if extensible else 3, 1, 8_000, 8_000 * bits // 8, bits // 8, bits)
    if extensible:
        form += struct.pack("<HHIH", 22, bits, 0, 3) + bytes.fromhex("000000001000800000aa00389b71")
    chunks = (
        b"fmt "
        + struct.pack("<I", len(form))
        + form
        + b"LIST\x03\x00\x00\x00abc\x00"
        + b"data"
        + struct.pack("<I", len(body))
        + body
    )
    return b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WAVE" + chunks


@each(
    ("content", "atol"),
    [
        (pcm(1), 0.02),
        (pcm(2), 1e-4),
        (pcm(3), 1e-6),
        (pcm(4), 1e-6),
        (floats(32), 1e-6),
        (floats(64), 1e-6),
        (floats(32, extensible=True), 1e-6),
    ],
)
def test_every_width_gives_the_same_sound(content, atol):
    np.testing.assert_allclose(read_wav(content, "a.wav").samples, TONE, atol=atol)


def test_channels_are_the_last_dimension_and_the_rate_is_kept(tmp_path):
    with opened(put(tmp_path, "a.wav", pcm(channels=2, rate=44_100))) as data:
        sample = data.samples([0])[0]
        assert sample.values["audio"].shape == (200, 2) and sample.name == "a.wav"
        assert data.about.field("audio").details == {"sample_rate_hz": 44_100, "channels": 2}
        assert data.feed(0, 1)["x"].shape == (1, 200, 2)


def test_recordings_in_folders_by_class_and_one_that_is_broken(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for kind in ("no", "yes"):
            for number in range(2):
                archive.writestr(f"{kind}/{number}.wav", pcm(rate=8_000 if kind == "no" else 16_000))
        archive.writestr("yes/broken.wav", b"RIFF\x00\x00\x00\x00WAVEjunk")
    with opened(put(tmp_path, "a.zip", (tmp_path / "a.zip").read_bytes())) as data:
        assert data.about.classes == ("no", "yes") and data.about.rows == 5
        samples = data.samples(range(5))
        assert "16,000 Hz" in samples[2].problems[0] and samples[2].label == "yes"
        assert "yes/broken.wav" in samples[4].problems[0] and not samples[4].values.get("audio")
        assert data.feed(0, 5)["x"].shape == (4, 200) and data.feed(0, 5)["y"].tolist() == [0, 0, 1, 1]


def test_a_cut_file_gives_what_is_there(tmp_path):
    with opened(put(tmp_path, "a.wav", pcm()[:244])) as data:
        sample = data.samples([0])[0]
        assert sample.values["audio"].shape == (100,) and "Declares 400 bytes" in sample.problems[0]


def test_compressed_sound_is_declined_with_its_name():
    content = bytearray(pcm())
    content[20] = 7
    with pytest.raises(UnreadableFile, match="µ-law"):
        read_wav(bytes(content), "a.wav")


@examples(200)
@given(st.data())
def test_damaged_bytes_are_sound_or_a_sentence(data):
    content = bytearray(pcm())
    for _ in range(data.draw(st.integers(1, 5))):
        content[data.draw(st.integers(0, 60))] = data.draw(st.integers(0, 255))
    try:
        assert read_wav(bytes(content), "a.wav").rate_hz > 0
    except StethoscopeError as error:
        assert "a.wav" in str(error)
