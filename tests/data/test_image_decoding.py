"""Pictures of every kind are decoded within bounds; bombs and damage are sentences."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from stethoscope.data.images.image_decoding import decode, decode_numbers, layout_of, size_of
from stethoscope.errors import StethoscopeError, TooLarge, UnreadableFile
from tests.exploring import examples
from tests.tables import each

BUDGET = 1 << 30
RNG = np.random.default_rng(0)


def saved(image: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def bomb_png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )


@each(
    ("mode", "kind", "shape", "dtype"),
    [
        ("L", "PNG", (6, 9, 1), "uint8"),
        ("1", "PNG", (6, 9, 1), "uint8"),
        ("P", "PNG", (6, 9, 3), "uint8"),
        ("RGB", "JPEG", (6, 9, 3), "uint8"),
        ("CMYK", "JPEG", (6, 9, 3), "uint8"),
        ("RGBA", "PNG", (6, 9, 4), "uint8"),
        ("LA", "PNG", (6, 9, 4), "uint8"),
        ("RGB", "WEBP", (6, 9, 3), "uint8"),
        ("RGB", "BMP", (6, 9, 3), "uint8"),
        ("RGB", "TIFF", (6, 9, 3), "uint8"),
        ("F", "TIFF", (6, 9, 1), "float32"),
        ("P", "GIF", (6, 9, 3), "uint8"),
        ("RGB", "PPM", (6, 9, 3), "uint8"),
    ],
)
def test_every_mode_has_one_layout(mode, kind, shape, dtype):
    payload = saved(Image.fromarray(RNG.integers(0, 255, (6, 9, 3), np.uint8)).convert(mode), kind)
    pixels = decode(payload, "a", BUDGET).pixels
    assert (pixels.shape, pixels.dtype) == (shape, np.dtype(dtype))
    assert layout_of(io.BytesIO(payload), "a") == (shape, dtype)
    assert size_of(io.BytesIO(payload), "a") == (9, 6)


def test_sixteen_bits_stay_sixteen_bits():
    deep = RNG.integers(0, 65_535, (5, 7), np.uint16)
    for kind in ("PNG", "TIFF"):
        pixels = decode(saved(Image.fromarray(deep), kind), "a", BUDGET).pixels
        np.testing.assert_array_equal(pixels[:, :, 0], deep)


def test_grey_colours_and_transparency_keep_their_values():
    values = RNG.integers(0, 255, (4, 5, 4), np.uint8)
    np.testing.assert_array_equal(decode(saved(Image.fromarray(values), "PNG"), "a", BUDGET).pixels, values)
    np.testing.assert_array_equal(
        decode(saved(Image.fromarray(values[:, :, 0]), "PNG"), "a", BUDGET).pixels[:, :, 0], values[:, :, 0]
    )


def test_a_rotated_photograph_is_given_as_stored_and_says_so():
    image = Image.fromarray(RNG.integers(0, 255, (4, 8, 3), np.uint8))
    tags = Image.Exif()
    tags[0x0112] = 6
    picture = decode(saved(image, "JPEG", exif=tags), "a", BUDGET)
    assert picture.pixels.shape == (4, 8, 3)
    assert "as stored" in picture.remarks[0]


def test_of_several_frames_the_first_is_shown():
    frames = [Image.new("RGB", (4, 4), (90 * number, 0, 0)) for number in range(3)]
    picture = decode(saved(frames[0], "GIF", save_all=True, append_images=frames[1:]), "a", BUDGET)
    assert picture.pixels.shape == (4, 4, 3)
    assert "3 frames" in picture.remarks[0]


def test_masks_keep_indices_and_greys():
    numbers = RNG.integers(0, 21, (6, 6), np.uint8)
    palette = Image.fromarray(numbers, "L")
    palette.putpalette([channel for number in range(256) for channel in (number, 255 - number, 7)])
    assert palette.mode == "P"
    np.testing.assert_array_equal(decode_numbers(saved(palette, "PNG"), "a", BUDGET), numbers)
    np.testing.assert_array_equal(decode_numbers(saved(Image.fromarray(numbers), "PNG"), "a", BUDGET), numbers)
    colours = RNG.integers(0, 255, (6, 6, 3), np.uint8)
    np.testing.assert_array_equal(decode_numbers(saved(Image.fromarray(colours), "PNG"), "a", BUDGET), colours)


@pytest.mark.parametrize("side", [8_000, 60_000])
def test_a_bomb_is_refused_before_it_is_decoded(side):
    for read in (lambda data: decode(data, "bomb.png", BUDGET), lambda data: size_of(io.BytesIO(data), "bomb.png")):
        with pytest.raises(TooLarge, match=r"bomb\.png.*pixels"):
            read(bomb_png(side, side))


def test_an_image_that_does_not_fit_the_budget_is_refused():
    with pytest.raises(TooLarge):
        decode(saved(Image.new("RGB", (100, 100)), "PNG"), "a.png", 100_000)


def test_other_content_is_a_sentence():
    for payload in (b"", b"hello", b"<html>", b"\x89PNG\r\n\x1a\n", b"%!PS-Adobe-3.0 EPSF", b"\xff\xd8\xff"):
        with pytest.raises(UnreadableFile, match=r"x\.png"):
            decode(payload, "x.png", BUDGET)


@examples(70)
@given(st.sampled_from(["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM"]), st.data())
def test_damaged_bytes_are_decoded_or_a_sentence(kind, data):
    content = bytearray(saved(Image.fromarray(np.arange(300, dtype=np.uint8).reshape(10, 10, 3)), kind))
    for _ in range(data.draw(st.integers(1, 5))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    payload = bytes(content[: data.draw(st.integers(0, len(content)))])
    for read in (decode, decode_numbers):
        try:
            assert read(payload, "a.bin", 1 << 26) is not None
        except StethoscopeError as error:
            assert "a.bin" in str(error)
