"""A small model of one proposal with two items, written from the rules and not from the code.

It says for each step by each principal which states of proposal and items follow, or that nothing may happen.
"""

from __future__ import annotations

from dataclasses import dataclass, field

LOW, HIGH = "low", "high"
#: principal -> rights. `owner` is the agent's owner and approves; `relay` is a key that names the user u1.
RIGHTS = {
    "proposer": {"change", "approve", "apply"},
    "approver": {"approve", "change"},
    "applier": {"apply", "rollback"},
    "owner": {"approve", "apply", "rollback"},
    "relay": {"relay"},
    "viewer": set(),
}


@dataclass
class Item:
    """One item; `author` is who last wrote it."""

    risk: str
    author: str
    state: str = "pending"
    approver: str = ""
    is_stale: bool = False
    is_protected: bool = False


@dataclass
class Model:
    """The proposal: `state`, its items by number, and who wrote it first."""

    author: str
    items: dict[int, Item]
    state: str = "pending"
    demoted: set[str] = field(default_factory=set)
    last_author: str = ""

    def may(self, who: str, right: str) -> bool:
        return right in RIGHTS[who] and not (who in self.demoted and right in ("approve", "relay"))

    def is_low(self) -> bool:
        """Forbidden items make the whole proposal forbidden."""
        return all(item.risk == LOW and item.state != "blocked" for item in self.items.values())

    def open(self) -> list[Item]:
        return [item for item in self.items.values() if item.state == "pending"]

    def decide(self, who: str, verb: str, number: int) -> bool:
        """Approve, reject or skip one item; whether it is allowed."""
        item = self.items[number]
        if self.state != "pending" or item.state != "pending":
            return False
        relayed = self.may(who, "relay")
        if not ((relayed and self.is_low()) or self.may(who, "approve")):
            return False
        if verb == "approve" and not self._approvable(who, item):
            return False
        blocked = verb == "approve" and item.is_protected
        item.state = (
            "blocked" if blocked else {"approve": "approved", "reject": "rejected", "skip": "skipped"}[verb]
        )
        item.approver = who if item.state == "approved" else ""
        self._settle(applies=verb == "approve" and (relayed or self.may(who, "apply")))
        return True

    def _approvable(self, who: str, item: Item) -> bool:
        own = item.risk == HIGH and who in {self.author, item.author, self.last_author}
        return not own and not item.is_stale

    def finish(self, who: str) -> bool:
        """Approve what is approved already, where the last open item was taken out by an edit."""
        if self.state != "pending" or self.open() or not self.may(who, "approve"):
            return False
        self._settle(applies=self.may(who, "apply"))
        return True

    def _settle(self, applies: bool) -> None:
        if self.open():
            return
        states = {item.state for item in self.items.values()}
        self.state = next(
            state for state in ("approved", "rejected", "skipped", "blocked") if state in states
        )
        if self.state == "approved" and applies:
            self._apply()

    def apply(self, who: str) -> bool:
        """Apply what is approved; False when that is not to be tried at all."""
        if self.state != "approved" or not self.may(who, "apply"):
            return False
        self._apply()
        return True

    def _apply(self) -> None:
        approved = [item for item in self.items.values() if item.state == "approved"]
        lost = next((item for item in approved if item.approver in self.demoted), None)
        if lost is not None:
            self.state, lost.state = "failed", "failed"
            return
        for item in approved:
            if item.is_stale:
                self.state, item.state = "conflict", "conflict"
                return
            if item.is_protected:
                self.state, item.state = "failed", "failed"
                return
        self.state = "applied"
        for item in approved:
            item.state = "applied"

    def edit(self, who: str, number: int) -> bool:
        """Other words for an item, worked out on the current text."""
        item = self.items[number]
        editable = item.state in ("pending", "approved", "blocked")
        if self.state not in ("draft", "pending", "approved") or not editable or not self.may(who, "change"):
            return False
        item.state = "blocked" if item.is_protected else "pending"
        item.author, item.approver, item.is_stale = who, "", False
        self.last_author = who
        if self.state == "approved":
            self.state = "pending"
        if self.state == "draft" or not self.open():
            self._close_unapproved()
        return True

    def _close_unapproved(self) -> None:
        states = {item.state for item in self.items.values()}
        if self.state == "draft":
            self.state = "blocked" if states == {"blocked"} else "pending"
        elif "approved" not in states:
            self.state = next(state for state in ("rejected", "skipped", "blocked") if state in states)

    def repropose(self, who: str) -> bool:
        """Again on the current text."""
        if self.state not in ("conflict", "failed", "blocked") or not self.may(who, "change"):
            return False
        for item in self.items.values():
            if item.state in ("rejected", "skipped"):
                continue
            item.state = "blocked" if item.is_protected else "pending"
            item.approver, item.is_stale = "", False
        self.state = "pending" if self.open() else "draft"
        return True

    def submit(self, who: str) -> bool:
        if self.state != "draft" or not (self.may(who, "change") or self.may(who, "relay")):
            return False
        self.state = "pending" if any(item.state != "blocked" for item in self.items.values()) else "blocked"
        return True

    def discard(self, who: str) -> bool:
        """Reject a whole draft."""
        if self.state != "draft" or not self.may(who, "approve"):
            return False
        for item in self.open():
            item.state = "rejected"
        self.state = "rejected"
        return True

    def rollback(self, who: str) -> bool:
        changed = any(
            item.is_stale or item.is_protected for item in self.items.values() if item.state == "applied"
        )
        if self.state != "applied" or not self.may(who, "rollback") or changed:
            return False
        self.state = "rolled_back"
        for item in self.items.values():
            item.state = "rolled_back" if item.state == "applied" else item.state
        return True

    def expire(self) -> None:
        if self.state != "pending":
            return
        self.state = "expired"
        for item in self.items.values():
            item.state = "skipped" if item.state in ("pending", "approved") else item.state
