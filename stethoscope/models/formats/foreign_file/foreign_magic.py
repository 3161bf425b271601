"""Foreign files that are known by their first bytes."""

from __future__ import annotations

_IMAGE = "an image, not a model. Give it as sample data (the Data page, or --data)."
_SOUND = "a sound or video file, not a model. Give WAV files as sample data (the Data page, or --data)."
_PROGRAM = "a program or library, not a model. Upload the model file itself."
_PACKED = "Unpack it and upload the model inside, or pack it as .zip or .tar.gz."

MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (
        0,
        b"version https://git-lfs.github.com/spec/",
        "a Git LFS pointer, not the model it stands for. Run `git lfs pull` and upload the real file.",
    ),
    (0, b"\x89PNG\r\n\x1a\n", _IMAGE),
    (0, b"\xff\xd8\xff", _IMAGE),
    (0, b"GIF8", _IMAGE),
    (0, b"II*\0", _IMAGE),
    (0, b"MM\0*", _IMAGE),
    (8, b"WEBP", _IMAGE),
    (8, b"WAVE", _SOUND),
    (8, b"AVI ", _SOUND),
    (4, b"ftyp", _SOUND),
    (0, b"ID3", _SOUND),
    (0, b"OggS", _SOUND),
    (0, b"fLaC", _SOUND),
    (0, b"%PDF-", "a PDF document, not a model. Upload the model file itself."),
    (0, b"\x7fELF", _PROGRAM),
    (0, b"MZ", _PROGRAM),
    (0, b"\xcf\xfa\xed\xfe", _PROGRAM),
    (0, b"\xca\xfe\xba\xbe", _PROGRAM),
    (0, b"\0asm", _PROGRAM),
    (0, b"#!", "a script, not a model. Run it and upload the model it saves."),
    (0, b"7z\xbc\xaf\x27\x1c", f"a 7z archive, which is not read here. {_PACKED}"),
    (0, b"Rar!\x1a\x07", f"a RAR archive, which is not read here. {_PACKED}"),
    (0, b"\x28\xb5\x2f\xfd", f"Zstandard-compressed, which is not read here. {_PACKED}"),
    (0, b"\x04\x22\x4d\x18", f"LZ4-compressed, which is not read here. {_PACKED}"),
    (
        0,
        b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.",
        "a PyTorch checkpoint in the old pickle form, not a TensorFlow model. Export the model to ONNX (torch.onnx.export) and upload that.",
    ),
    (
        0,
        b"GGUF",
        "a GGUF language model, which TensorFlow does not run. Use llama.cpp, or upload the model it was made from.",
    ),
    (
        0,
        b"lmgg",
        "a GGML language model, which TensorFlow does not run. Use llama.cpp, or upload the model it was made from.",
    ),
    (
        0,
        b"tjgg",
        "a GGML language model, which TensorFlow does not run. Use llama.cpp, or upload the model it was made from.",
    ),
    (0, b"ftrt", "a TensorRT engine, compiled for one GPU. Upload the ONNX or SavedModel it was built from."),
    (0, b"ptrt", "a TensorRT engine, compiled for one GPU. Upload the ONNX or SavedModel it was built from."),
    (4, b"ORTM", "a model in onnxruntime's own .ort form. Upload the .onnx it was made from."),
    (4, b"CIR0", "a Circle model (ONE compiler), which TensorFlow does not run. Upload the .tflite it was made from."),
    (
        0,
        b"\x93NUMPY",
        "a NumPy array (.npy): data or weights without an architecture. Give it as sample data (the Data page, or --data), or upload the whole model.",
    ),
    (
        0,
        b"\x89HDF\r\n\x1a\n",
        "an HDF5 file without a Keras model in it. Save the whole model with model.save('model.keras') and upload that.",
    ),
    (0, b"SQLite format 3\0", "an SQLite database, not a model. Upload the model file itself."),
    (0, b"PAR1", "a Parquet table: data, not a model. Give it as sample data (the Data page, or --data)."),
    (0, b"ARROW1", "an Arrow table: data, not a model. Save it as Parquet to use it as sample data."),
    (
        0,
        b"7767517\n",
        "an ncnn network (.param), which TensorFlow does not run. Upload the model it was converted from.",
    ),
    (0, b"BM", _IMAGE),
)
"""(offset, bytes, "is …"), the more specific first."""


def by_magic(head: bytes) -> str | None:
    """Returns what the first bytes say, without "is"; None when they say nothing."""
    for offset, magic, sentence in MAGIC:
        # Two letters alone are weak evidence: a bitmap also repeats its own reserved zeros.
        if head[offset : offset + len(magic)] == magic and (magic != b"BM" or head[6:10] == b"\0\0\0\0"):
            return sentence
    return None
