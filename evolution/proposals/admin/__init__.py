"""The admin of proposals: the work list, the review queue, one proposal, its items, the git mirror, the reports.

In: a signed-in person. Out: one service call for each decision; GET never writes.
"""

from evolution.proposals.admin.items import ProposalItemAdmin
from evolution.proposals.admin.mirror import GitMirrorCommitAdmin
from evolution.proposals.admin.proposal import ProposalAdmin

__all__ = ["GitMirrorCommitAdmin", "ProposalAdmin", "ProposalItemAdmin"]
