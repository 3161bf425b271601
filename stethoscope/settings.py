"""Every setting, in one class: read from the environment as `STETHOSCOPE_*`, shown as a table in docs/settings.md."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
import psutil
from pydantic import ByteSize, Field, ValidationError, field_validator
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from stethoscope.devices import default_floor_bytes
from stethoscope.errors import BadSetting

PREFIX = "STETHOSCOPE_"
_GIB = 1 << 30
_MIB = 1 << 20


def usable_cores() -> int:
    """CPU cores this process may use, which in a container can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)


def usable_memory_bytes() -> int:
    """Memory this process may use: the machine's, or the container's limit where that is lower."""
    total = int(psutil.virtual_memory().total)
    for limit in (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")):
        try:
            text = limit.read_text().strip()
        except OSError:
            continue
        if text.isdigit() and int(text) > 0:
            total = min(total, int(text))
    return total


def _job_memory() -> ByteSize:
    return ByteSize(min(8 * _GIB, usable_memory_bytes() // 2))


def _setting(default: Any, description: str, *, shown: str = "", **bounds: Any) -> Any:
    extra: JsonDict | None = {"shown": shown} if shown else None
    if callable(default):
        return Field(default_factory=default, description=description, json_schema_extra=extra, **bounds)
    return Field(default=default, description=description, json_schema_extra=extra, **bounds)


class Settings(BaseSettings):
    """How this installation behaves. Frozen: read once at start; sizes may be written as `2GiB`."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="ignore")

    workspace: Path = _setting(
        lambda: platformdirs.user_data_path("stethoscope"),
        "Folder for everything that is kept: files, results, database. On a local disk.",
        shown="the user's data folder",
    )
    samples_dir: Path = _setting(
        lambda: Path(__file__).resolve().parents[1] / "sample_models" / "built",
        "Folder with the sample models and their `manifest.json`.",
        shown="`sample_models/built`",
    )
    base_path: str = _setting("", "URL path that `stethoscope serve` puts the app under, for example `/team/models`.")
    log_folders: Annotated[tuple[Path, ...], NoDecode] = _setting(
        (),
        "Folders of this server whose training logs everybody who reaches the app may read and follow, and the folders "
        "below them; separated as in `PATH`.",
        shown="none",
    )
    mlflow_urls: Annotated[tuple[str, ...], NoDecode] = _setting(
        (),
        "Addresses of MLflow tracking servers whose runs everybody who reaches the app may read, separated by spaces. "
        "`MLFLOW_TRACKING_TOKEN`, or `MLFLOW_TRACKING_USERNAME` and `MLFLOW_TRACKING_PASSWORD`, are sent where only one is named.",
        shown="none",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = _setting("INFO", "How much the log says.")

    max_upload_bytes: ByteSize = _setting(ByteSize(2 * _GIB), "The largest file that can be uploaded.", gt=0)
    quota_bytes: ByteSize = _setting(ByteSize(10 * _GIB), "What one owner may store, counting equal files once.", gt=0)
    total_quota_bytes: ByteSize = _setting(
        ByteSize(100 * _GIB), "What all owners together may store, counting equal files once.", gt=0
    )
    min_free_disk_bytes: ByteSize = _setting(
        ByteSize(_GIB), "Uploads stop before less than this is free on the workspace's disk.", ge=0
    )
    expire_days: float = _setting(30.0, "A model nobody opened for this many days is removed; 0 keeps all.", ge=0)
    uploads_per_owner: int = _setting(4, "Uploads one owner may have running at the same time.", ge=1)
    uploads_total: int = _setting(32, "Uploads the server accepts at the same time.", ge=1)
    upload_idle_s: float = _setting(60.0, "An upload that sends nothing for this many seconds is dropped.", gt=0)

    job_memory_bytes: ByteSize = _setting(
        _job_memory,
        "Memory a job may add to its worker before it is stopped.",
        shown="8 GiB, or half of the memory if that is less",
        gt=0,
    )
    min_free_memory_bytes: ByteSize = _setting(
        lambda: ByteSize(default_floor_bytes()),
        "When less of the machine's memory than this is available, the job that holds most of it is stopped, with a "
        "report; 0 turns that off.",
        shown="512 MiB, or a twentieth of the memory if that is less",
        ge=0,
    )
    job_timeout_s: float = _setting(300.0, "Seconds a job may take.", gt=0)
    require_containment: bool = _setting(
        False,
        "Refuse to run files that are programs in themselves (SavedModel, frozen graph) where the kernel cannot "
        "contain them. `stethoscope serve` turns it on for any address but localhost.",
    )
    job_slots: int = _setting(
        usable_cores, "Jobs that run models at the same time; more wait.", shown="the number of cores", ge=1
    )
    light_slots: int = _setting(
        lambda: max(2, usable_cores()),
        "Jobs that only read files at the same time; more wait.",
        shown="the number of cores, at least 2",
        ge=1,
    )
    skeleton_above_bytes: ByteSize = _setting(
        ByteSize(50 * _MIB), "Files larger than this are drawn without their weights.", ge=0
    )

    @field_validator("log_folders", mode="before")
    @classmethod
    def _split_folders(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        folders = tuple(Path(part).expanduser() for part in value.split(os.pathsep) if part)
        if any(not folder.is_absolute() for folder in folders):
            raise ValueError("expected folders with their whole paths")
        return folders

    @field_validator("mlflow_urls", mode="before")
    @classmethod
    def _split_addresses(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        addresses = tuple(value.split())
        if any(not one.startswith(("http://", "https://")) or "@" in one for one in addresses):
            raise ValueError("expected addresses like https://mlflow.example.com without user and password")
        return addresses


@functools.cache
def settings() -> Settings:
    """The settings of this process, read from the environment at the first call.

    Raises:
        BadSetting: a variable holds something that makes no sense; names the variable.
    """
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = PREFIX + "_".join(str(part) for part in first["loc"]).upper()
        raise BadSetting(
            f"{name}: {first['msg']}, got {first.get('input')!r}. Change it or unset it; see docs/settings.md."
        ) from error


def table() -> str:
    """The settings as a Markdown table: variable, default, meaning."""
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        rows.append(f"| `{PREFIX}{name.upper()}` | {_shown(field)} | {field.description} |")
    return "\n".join(rows)


def _shown(field: FieldInfo) -> str:
    extra = field.json_schema_extra
    if isinstance(extra, dict) and "shown" in extra:
        return str(extra["shown"])
    value = field.default
    if isinstance(value, ByteSize):
        return f"`{value.human_readable(separator='')}`".replace(".0", "")
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`" if value != "" else "empty"
