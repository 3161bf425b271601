"""List the processors TensorFlow sees."""

from __future__ import annotations

from dataclasses import dataclass

from stethoscope.devices import SeenDevice
from stethoscope.task import TaskContext


@dataclass(frozen=True)
class SeenDevices:
    """What TensorFlow can compute on."""

    devices: tuple[SeenDevice, ...]


class Devices:
    """params: none."""

    kind = "devices"
    answer = SeenDevices

    def run(self, context: TaskContext) -> SeenDevices:
        """Asks TensorFlow."""
        import tensorflow as tf

        context.report("list devices")
        seen = []
        for device in tf.config.list_physical_devices():
            details = tf.config.experimental.get_device_details(device) if device.device_type == "GPU" else {}
            described = {str(name): str(value) for name, value in details.items()}
            seen.append(SeenDevice(device.name, device.device_type, described))
        return SeenDevices(tuple(seen))


TASK = Devices()
