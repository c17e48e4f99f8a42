"""Who does something, and through which door. Every write takes an `Actor`; receipts copy its name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Channel(StrEnum):
    """The door a write came through."""

    ADMIN = "admin"
    API = "api"
    COMMAND = "command"
    TASK = "task"


@dataclass(frozen=True)
class Actor:
    """A person, a key or the system itself. `name` is what staff read in receipts and version histories."""

    name: str
    channel: Channel
    user_id: int | None = None
    key_id: int | None = None

    @property
    def is_person(self) -> bool:
        """Whether a signed-in person acts (and not a key or a job)."""
        return self.user_id is not None


def command_actor(command: str) -> Actor:
    """The actor of a management command."""
    return Actor(name=f"command:{command}", channel=Channel.COMMAND)


def task_actor(task: str) -> Actor:
    """The actor of a periodic job."""
    return Actor(name=f"task:{task}", channel=Channel.TASK)
