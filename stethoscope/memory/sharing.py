"""One card for several models: what each needs, what it may use, and whether all of it fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stethoscope.errors import BadSetting
from stethoscope.sizes import human_bytes

HEADROOM_FRACTION = 0.1
"""For fragmentation and for what no estimate sees."""
HEADROOM_BYTES = 32 << 20
"""The least headroom: allocators grow in steps of this order, whatever the model's size."""
_MIB = 1 << 20


@dataclass(frozen=True)
class Share:
    """One model's part of a card. Sizes in bytes."""

    name: str
    predicted_bytes: int
    """The peak expected of it."""
    needed_bytes: int
    """The same with headroom."""
    share_bytes: int
    """What it may use: at least `needed_bytes` when all fit, in whole MiB."""


@dataclass(frozen=True)
class Split:
    """A card divided between models. Sizes in bytes."""

    device_bytes: int
    reserved_bytes: int
    """Kept for the runtime: on a GPU the CUDA context and the libraries' workspaces."""
    headroom_fraction: float
    shares: tuple[Share, ...]
    needed_bytes: int
    """All models together, with headroom."""
    fits: bool
    fitting: tuple[str, ...]
    """A largest set of models that fit together: all of them when `fits`."""
    sentence: str

    def share_of(self, name: str) -> Share:
        """The share of a model by name."""
        return next(share for share in self.shares if share.name == name)


def split(
    predicted_bytes: Mapping[str, int],
    device_bytes: int,
    *,
    headroom_fraction: float = HEADROOM_FRACTION,
    reserved_bytes: int = 0,
    own_shares: Mapping[str, int] | None = None,
) -> Split:
    """Divides a card: each model gets its expected peak with headroom, and what is left in proportion to that.

    When they do not fit, every model's share is smaller than it needs, in proportion.

    Args:
        predicted_bytes: the expected peak of each model by name.
        device_bytes: the card's memory, or the budget on a CPU.
        headroom_fraction: on top of each expected peak; 0.1 is a tenth.
        reserved_bytes: kept for the runtime.
        own_shares: sizes chosen by hand for some of the models; the others divide the rest.

    Raises:
        BadSetting: no model, an unknown name, a headroom or size that makes no sense, or chosen shares beyond the card.
    """
    own = dict(own_shares or {})
    _check(predicted_bytes, device_bytes, headroom_fraction, reserved_bytes, own)
    usable = device_bytes - reserved_bytes
    needed = {name: size + max(HEADROOM_BYTES, int(size * headroom_fraction)) for name, size in predicted_bytes.items()}
    rest = usable - sum(own.values())
    others = sum(size for name, size in needed.items() if name not in own)
    given = {
        name: own.get(name, int(rest * size / others) if others else 0) // _MIB * _MIB for name, size in needed.items()
    }
    shares = tuple(Share(name, predicted_bytes[name], needed[name], given[name]) for name in needed)
    total = sum(needed.values())
    fits = total <= usable and all(share.share_bytes >= share.predicted_bytes for share in shares)
    fitting = tuple(needed) if fits else _fitting(needed, usable)
    return Split(
        device_bytes,
        reserved_bytes,
        headroom_fraction,
        shares,
        total,
        fits,
        fitting,
        _sentence(shares, total, usable, fits, fitting),
    )


def _check(
    predicted: Mapping[str, int], device_bytes: int, headroom: float, reserved_bytes: int, own: Mapping[str, int]
) -> None:
    if not predicted:
        raise BadSetting("Models on one card: expected at least one model, got none. Choose the models.")
    if not 0 <= headroom <= 10:
        raise BadSetting(f"Headroom {headroom:g}: expected a fraction from 0 to 10, for example 0.1. Correct it.")
    if device_bytes <= 0 or not 0 <= reserved_bytes < device_bytes:
        raise BadSetting(
            f"The card: expected more memory than the {human_bytes(reserved_bytes)} kept for the runtime, got "
            f"{human_bytes(device_bytes)}. Choose a larger card."
        )
    unknown = set(own) - set(predicted)
    if unknown or any(size <= 0 for size in own.values()):
        raise BadSetting(
            f"Shares: expected more than 0 bytes for some of {', '.join(predicted)}, got {dict(own)}. Correct them."
        )
    if sum(own.values()) > device_bytes - reserved_bytes or (
        len(own) < len(predicted) and sum(own.values()) >= device_bytes - reserved_bytes
    ):
        raise BadSetting(
            f"Shares: the chosen ones take {human_bytes(sum(own.values()))} of the card's "
            f"{human_bytes(device_bytes - reserved_bytes)} and leave nothing for the others. Choose smaller ones."
        )


def _fitting(needed: Mapping[str, int], usable: int) -> tuple[str, ...]:
    """The most models that fit: smallest first is optimal for their number."""
    chosen: list[str] = []
    left = usable
    for name, size in sorted(needed.items(), key=lambda item: item[1]):
        if size <= left:
            chosen.append(name)
            left -= size
    return tuple(name for name in needed if name in chosen)


def _sentence(shares: tuple[Share, ...], total: int, usable: int, fits: bool, fitting: tuple[str, ...]) -> str:
    small = [share for share in shares if share.share_bytes < share.predicted_bytes]
    if fits:
        return f"{'Both' if len(shares) == 2 else f'All {len(shares)}'} fit: {human_bytes(total)} with headroom, of {human_bytes(usable)}."
    if total <= usable:
        names = ", ".join(f"{share.name} ({human_bytes(share.predicted_bytes)})" for share in small)
        return f"The card is large enough, but these shares are smaller than the expected peak: {names}."
    largest = max(shares, key=lambda share: share.needed_bytes)
    alone = f" Together fit: {', '.join(fitting)}." if fitting else " Not one of them fits alone."
    return (
        f"They do not fit: {human_bytes(total)} with headroom, {human_bytes(total - usable)} more than "
        f"{human_bytes(usable)}. The largest is {largest.name}; lower its batch size or precision.{alone}"
    )
