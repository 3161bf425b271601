"""TensorBoard's own fast reader, rustboard, as TensorBoard uses it: a server process asked through gRPC for all scalars."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

_LOADED = "Finished load cycle"
_ALL = 100_000_000


class Rustboard:
    """Reads a folder once; `cpu_s` and `peak_bytes` are the server's, as of the end of `read`."""

    def __init__(self, folder: Path) -> None:
        import grpc
        import tensorboard_data_server
        from tensorboard.data import grpc_provider
        from tensorboard.data.proto import data_provider_pb2

        self._grpc, self._provider, self._messages = grpc, grpc_provider, data_provider_pb2
        self._binary, self._folder = tensorboard_data_server.server_binary(), folder
        self.cpu_s, self.peak_bytes = 0.0, 0

    def read(self) -> Any:
        """Starts the server, waits until it has read everything, and fetches it; the answer is the last message."""
        with tempfile.TemporaryDirectory() as scratch:
            port = Path(scratch) / "port"
            command = [
                self._binary,
                f"--logdir={self._folder}",
                "--reload=once",
                "--samples-per-plugin=scalars=all",
                "--port=0",
                f"--port-file={port}",
                "--die-after-stdin",
                "--verbose",
            ]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
                assert server.stderr is not None
                if not any(_LOADED in line for line in server.stderr):
                    raise RuntimeError("rustboard ended before it had read the logs")
                answer = self._fetch(int(port.read_text()))
                self._take_stock(server.pid)
                server.kill()
        return answer

    def _fetch(self, port: int) -> Any:
        options = [("grpc.max_receive_message_length", 1 << 30)]
        credentials = self._grpc.local_channel_credentials()
        with self._grpc.secure_channel(f"localhost:{port}", credentials, options=options) as channel:
            request = self._messages.ReadScalarsRequest()
            request.plugin_filter.plugin_name = "scalars"
            request.downsample.num_points = _ALL
            return self._provider.make_stub(channel).ReadScalars(request)

    def _take_stock(self, pid: int) -> None:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        self.cpu_s = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
        self.peak_bytes = int(next(line for line in status if line.startswith("VmHWM")).split()[1]) << 10


def tags(answer: Any) -> Iterable[tuple[str, str, Any, Any, Any]]:
    """(run, tag, steps, wall times, values) of everything in an answer."""
    for run in answer.runs:
        for tag in run.tags:
            data = tag.data
            yield run.run_name, tag.tag_name, *(np.array(part) for part in (data.step, data.wall_time, data.value))
