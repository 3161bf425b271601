"""The process was ended from outside, most often because memory ran out."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    kernel = read.says(
        "Out of memory: Kill",
        "out of memory: Kill",
        "oom-kill",
        "OOMKilled",
        "killed by the OOM killer",
        "oom_reaper",
        "invoked oom-killer",
        "OOM-killed",
    )
    program = read.get("program") or read.get("unit")
    named = f"“{program.strip()}”" if program.strip() else "The process"
    resident = read.get("resident").removesuffix("kB")
    held = f" It held {int(resident) / 1024**2:.3g} GiB." if resident.isdigit() and int(resident) else ""
    limit = (
        " A limit of its own group (container, service, job) was reached, not the machine's."
        if read.says("Memory cgroup out of memory", "CONSTRAINT_MEMCG", "OOMKilled", "slurmstepd")
        else ""
    )
    steps = (
        Step(
            "What grows: outputs that predict keeps, the data as one array, a shuffle buffer of whole pictures, a list of losses that are tensors.",
            "for batch in dataset:\n    save(model.predict_on_batch(batch))   # instead of model.predict(everything)\nlosses.append(float(loss))",
        ),
        Step("A container has its own limit.", "docker run --memory=16g …"),
        Step("Ask the kernel whether it was memory.", "dmesg -T | grep -i -E 'oom|killed process'"),
    )
    if kernel and not read.says("potential root causes"):
        return Cause(f"{named} was killed by the kernel because memory ran out.{held}{limit}", Certainty.CERTAIN, steps)
    return Cause(
        f"{named} was ended by SIGKILL (137 is 128 + 9), which no program can catch and which leaves no message. Most often the kernel did it because memory ran out; else a limit of a container or a queue, or a person.",
        Certainty.LIKELY,
        steps,
    )


MESSAGE = Message(
    id="killed",
    title="The process was ended from outside, most often because memory ran out",
    wordings=(
        Wording("Killed", line=True),
        Wording("killed", line=True),
        Wording("zsh: killed", r"zsh: killed {1,4}(?P<program>.{0,80})"),
        Wording(
            "Out of memory: Kill",
            r"Out of memory: Kill(?:ed)? process (?P<process>\d{1,10}) \((?P<program>[^)]{1,60})\)(?:.{0,60}?total-vm: ?(?P<virtual>\d{1,15}kB), ?anon-rss: ?(?P<resident>\d{1,15}kB))?",
        ),
        Wording(
            "Memory cgroup out of memory: Kill",
            r"Memory cgroup out of memory: Kill(?:ed)? process (?P<process>\d{1,10}) \((?P<program>[^)]{1,60})\)(?:.{0,60}?total-vm: ?(?P<virtual>\d{1,15}kB), ?anon-rss: ?(?P<resident>\d{1,15}kB))?",
        ),
        Wording("invoked oom-killer", r"(?P<program>[\w./-]{1,60}) invoked oom-killer"),
        Wording("oom-kill:constraint=", r"oom-kill:constraint=(?P<limit>\w{1,40})"),
        Wording("oom_reaper: reaped process", r"reaped process (?P<process>\d{1,10}) \((?P<program>[^)]{1,60})\)"),
        Wording(
            "A process of this unit has been killed by the OOM killer",
            r"(?P<unit>[\w@.-]{1,80}\.(?:service|scope)): A process",
        ),
        Wording("Failed with result 'oom-kill'", r"(?P<unit>[\w@.-]{1,80}\.(?:service|scope)): Failed"),
        Wording("OOMKilled"),
        Wording("exit code 137"),
        Wording("exit code: 137"),
        Wording("exit status 137"),
        Wording("exited with code 137"),
        Wording("Exit Code: 137"),
        Wording("returncode=137"),
        Wording("exit code 247"),
        Wording("status code 247"),
        Wording("code=killed, status=9/KILL", r"(?P<unit>[\w@.-]{1,80}\.service): Main process exited"),
        Wording("was killed by signal 9"),
        Wording("killed by signal: 9"),
        Wording("(interrupted by signal 9: SIGKILL)"),
        Wording("terminated by signal SIGKILL"),
        Wording("signal 9 (SIGKILL)"),
        Wording("signal 9: SIGKILL"),
        Wording("died with <Signals.SIGKILL: 9>"),
        Wording("SIGKILL(-9)"),
        Wording("exit code -9"),
        Wording("exitcode: -9", r"exitcode: -9"),
        Wording("SIGKILL", line=True),
        Wording("detected OOM-killed"),
        Wording("slurmstepd: error: Detected", r"oom[-_ ]kill"),
    ),
    explain=_explain,
    ways=(ways.PREDICT, ways.SWEEP),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/9419",
        "https://github.com/tensorflow/tensorflow/issues/59383",
        "https://github.com/ibab/tensorflow-wavenet/issues/283",
    ),
)
