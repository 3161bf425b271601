"""Files of text wherever they lie: plain, compressed with gzip, or members of an archive or folder; read as streams."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import IO, Any, cast

from stethoscope.data.members import open_members
from stethoscope.data.survey import survey
from stethoscope.errors import StethoscopeError, UnreadableFile
from stethoscope.models.containers.damage import ARCHIVE
from stethoscope.types import ModelFile

GZIP = b"\x1f\x8b"
_TAR_MARK = 257
DAMAGE = (*ARCHIVE, UnreadableFile)
"""What reading a damaged file or member raises, opened or not yet."""


def is_gzip(file: ModelFile) -> bool:
    """Whether a file is one file compressed with gzip (and no tar)."""
    if not file.path.is_file():
        return False
    with file.path.open("rb") as stream:
        if stream.read(2) != GZIP:
            return False
        stream.seek(0)
        try:
            head = gzip.GzipFile(fileobj=stream).read(512)
        except DAMAGE:
            return False
    return head[_TAR_MARK : _TAR_MARK + 5] != b"ustar"


def is_single(file: ModelFile) -> bool:
    """Whether it is one file of data: no folder, no archive."""
    if not file.path.is_file():
        return False
    return survey(file).names == (file.name,) or is_gzip(file)


def head_of(file: ModelFile, size: int = 64 << 10) -> bytes:
    """The first bytes of a single file, uncompressed; empty for a damaged one."""
    try:
        with open_stream(file, file.name) as stream:
            return stream.read(size)
    except (*DAMAGE, StethoscopeError):
        return b""


def names_ending(file: ModelFile, suffixes: Sequence[str]) -> list[str]:
    """The files of a folder or archive (or the single file itself) that end so, also when compressed."""
    if is_gzip(file):
        return [file.name]
    packed = tuple(f"{suffix}.gz" for suffix in suffixes)
    return [name for name in survey(file).names if name.lower().endswith((*suffixes, *packed))]


@contextmanager
def open_stream(file: ModelFile, name: str) -> Iterator[IO[bytes]]:
    """One file or member, uncompressed if it is compressed with gzip.

    Raises:
        NotFound, UnreadableFile: as `Members.open`; also damage that is found while it is read inside the `with`.
    """
    with ExitStack() as opened:
        if is_gzip(file):
            stream = cast(IO[bytes], opened.enter_context(gzip.open(file.path, "rb")))
        else:
            members = opened.enter_context(open_members(file))
            stream = opened.enter_context(members.open(name))
            if name.lower().endswith(".gz"):
                stream = cast(IO[bytes], opened.enter_context(gzip.GzipFile(fileobj=stream)))
        try:
            yield stream
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise UnreadableFile(
                f"{file.name}: {name!r} is damaged ({error}). Save it again or repeat the upload."
            ) from error


def text_of(file: ModelFile, name: str, encoding: str, limit: int) -> tuple[str, AsUtf8]:
    """One file's text without its byte-order mark, and where it came from: that says what was wrong.

    One byte more than `limit` is read: where `read_bytes` is larger, something was left out.

    Raises:
        NotFound, UnreadableFile: as `open_stream`.
    """
    with open_stream(file, name) as stream:
        source = AsUtf8(stream, encoding, limit + 1)
        content = bytearray()
        while part := source.read(1 << 20):
            content += part
    return content.decode("utf-8", "replace").lstrip("\ufeff"), source


class AsUtf8(io.RawIOBase):
    """A stream in any encoding as UTF-8, of at most `limit` bytes; what cannot be decoded becomes �."""

    def __init__(self, stream: IO[bytes], encoding: str, limit: int) -> None:
        super().__init__()
        self._stream, self._left = stream, limit
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        self._pending = b""
        self.read_bytes = 0
        """Bytes taken from the stream."""
        self.ended = False
        """Whether the stream was read to its end."""
        self.damage = ""
        """Why reading stopped before the end, where it did."""
        self.replaced = False
        """Whether something could not be decoded."""
        self.quotes = 0
        """Quotation marks so far."""

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Reads into a writable buffer."""
        view = memoryview(buffer).cast("B")
        while not self._pending and not self.ended:
            self._more()
        size = min(len(view), len(self._pending))
        view[:size] = self._pending[:size]
        self._pending = self._pending[size:]
        return size

    def _more(self) -> None:
        if self._left <= 0:
            self.ended = True
            return
        try:
            part = self._stream.read(min(1 << 20, self._left))
        except DAMAGE as error:
            part, self.damage = b"", str(error) or type(error).__name__
        self.read_bytes += len(part)
        self._left -= len(part)
        self.ended = not part
        text = self._decoder.decode(part, final=self.ended)
        self.replaced = self.replaced or "\ufffd" in text
        self.quotes += text.count('"')
        self._pending = text.replace("\x00", "").encode()
