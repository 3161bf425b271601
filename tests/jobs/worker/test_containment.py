"""What a worker cannot do, tried from inside one, light and with TensorFlow loaded."""

from __future__ import annotations

import platform
import socket

import pytest

from stethoscope.codec import answer_of
from stethoscope.jobs.worker import containment, seccomp
from stethoscope.tasks.probe import Probed
from stethoscope.types import Budget, Job, Status

CONTAINED = containment.abi() >= 1 and seccomp.supported()
needs_l1 = pytest.mark.skipif(not CONTAINED, reason=f"no Landlock or seccomp on {platform.platform()}")


@pytest.fixture(scope="module", params=["light", "tensorflow"])
def probe(engine, tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("outside")
    (folder / "secret.txt").write_text("canary")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        params = {
            "forbidden_read": str(folder / "secret.txt"),
            "forbidden_write": str(folder / "written.txt"),
            "connect_port": listener.getsockname()[1],
        }
        result = engine.wait(engine.submit(Job("probe", {}, params, Budget(1 << 30, 60), request.param)), 120)
    assert result.status is Status.OK, result.reason
    assert not (folder / "written.txt").exists() or not CONTAINED
    return answer_of(result, Probed)


@needs_l1
@pytest.mark.parametrize(
    "attempt",
    [
        "read a file outside the job",
        "write a file outside the job",
        "connect to the network",
        "start a program",
        "start a process",
        "signal its parent",
    ],
)
def test_a_worker_cannot(probe, attempt):
    assert probe.attempts[attempt].stopped, f"{attempt}: {probe.attempts[attempt].how}"


def test_a_worker_can_write_in_its_own_folder(probe):
    assert not probe.attempts["write in its own folder"].stopped


def test_limits_hold_even_without_kernel_help(probe):
    limits = probe.limits
    assert limits.own_process_group
    assert limits.core_bytes == 0
    assert 0 < limits.cpu_s < 10_000
    assert 0 < limits.address_data_bytes < 1 << 40


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_is_well_formed(machine):
    code = seccomp.program(machine, own_pid=1234)
    count = len(code) // 8
    assert len(code) % 8 == 0
    for place in range(count):
        kind, taken, other = (
            int.from_bytes(code[place * 8 : place * 8 + 2], "little"),
            code[place * 8 + 2],
            code[place * 8 + 3],
        )
        if kind & 0x07 == 0x05:
            assert place + 1 + max(taken, other) < count, "a jump leaves the program"
    assert code[-8:-6] == b"\x06\x00", "it ends with a return"
