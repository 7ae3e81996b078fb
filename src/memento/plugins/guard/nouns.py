"""What an exchange between machines did, and what a conversion of a data folder did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """
    The result of an exchange between machines: statements that this one sent and withdrew (`sent`, `withdrawn`), patches received
    from others, and what they added and removed here. `rivals` are memories of several machines that probably cannot both be true,
    and `overruled` counts values that gave way to a later one. `joined` means that this machine took part for the first time.
    """

    machine: str
    sent: int
    withdrawn: int
    patches: int
    added: int
    removed: int
    rivals: int = 0
    overruled: int = 0
    machines: tuple[str, ...] = ()
    joined: bool = False
    redacted: Mapping[str, int] = field(default_factory=dict)
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """
    A data folder that was encrypted or decrypted, or has a new key: how many backups were converted with it, and which files or
    folders in it were not.
    """

    folder: str
    encrypted: bool
    backups: int
    left: tuple[str, ...] = ()
