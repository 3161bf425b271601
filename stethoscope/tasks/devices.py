"""List the processors TensorFlow sees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stethoscope.task import TaskContext


class Devices:
    """params: none."""

    kind = "devices"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns {"devices": [{"name", "type", "details"}]}."""
        import tensorflow as tf

        context.report("list devices")
        found = []
        for device in tf.config.list_physical_devices():
            details = tf.config.experimental.get_device_details(device) if device.device_type == "GPU" else {}
            found.append(
                {"name": device.name, "type": device.device_type, "details": {k: str(v) for k, v in details.items()}}
            )
        return {"devices": found}


TASK = Devices()
