"""Recordings: a WAV file, or many in folders by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

from stethoscope.data.class_folder import ClassFolder
from stethoscope.data.dataset import DataField
from stethoscope.data.streams.wav_sound import read_wav
from stethoscope.data.survey import survey
from stethoscope.types import ModelFile

_SUFFIXES = (".wav", ".wave")
_MAGIC = (b"RIFF", b"RF64")


class WavReader:
    """Reads WAV files."""

    id = "wav"
    title = "WAV recordings"
    extensions = _SUFFIXES
    priority = 60

    def sniff(self, file: ModelFile) -> bool:
        """Whether the content is WAV, or most files of an archive or folder are."""
        if file.path.is_file():
            with file.path.open("rb") as stream:
                head = stream.read(12)
            if head[:4] in _MAGIC and head[8:12] == b"WAVE":
                return True
        found = survey(file)
        return found.names != (file.name,) and 2 * len(found.ending(*_SUFFIXES)) > len(found.names)

    def open(self, file: ModelFile, budget_bytes: int, options: Mapping[str, Any]) -> WavFolder:
        """Opens the recordings; see `DataReader.open`."""
        found = survey(file)
        names = found.ending(*_SUFFIXES) or found.names
        return WavFolder(self.id, self.title, file, names, budget_bytes, options)


class WavFolder(ClassFolder):
    """One recording a row: (time,) of one channel, (time, channels) of several; float32 from -1 to 1."""

    _rates: dict[str, int]

    def read_file(self, content: bytes, where: str) -> tuple[npt.NDArray[Any], str]:
        """Decodes one recording."""
        sound = read_wav(content, where)
        if not hasattr(self, "_rates"):
            self._rates = {}
        self._rates[where] = sound.rate_hz
        usual = next(iter(self._rates.values()))
        differs = f"Recorded at {sound.rate_hz:,} Hz, the first one at {usual:,} Hz." if sound.rate_hz != usual else ""
        return sound.samples, " ".join(filter(None, (sound.remark, differs)))

    def field_of(self, values: Sequence[npt.NDArray[Any]]) -> DataField:
        """Audio at the rate of the first recording."""
        shapes = {value.shape for value in values}
        ranks = {value.ndim for value in values}
        shape = (
            shapes.pop()
            if len(shapes) == 1 and len(values) == self.about.rows
            else (None,) * (min(ranks) if len(ranks) == 1 else 1)
        )
        if len(shapes) > 1 and ranks == {2} and len({value.shape[1] for value in values}) == 1:
            shape = (None, values[0].shape[1])
        rate = next(iter(self._rates.values()))
        channels = values[0].shape[1] if values[0].ndim == 2 else 1
        return DataField(
            "audio", "audio", "float32", shape, "input", "", {"sample_rate_hz": rate, "channels": channels}
        )


READER = WavReader()
