"""Who may do what: the four built-in groups, as data.

Viewer sees. Editor changes agents, experiences, documents and lessons. Approver decides about
proposals and lessons, applies proposals and rolls them back (a permission each: a group of your own may hold fewer).
Administrator also manages companies, keys, people and protection rules. The groups are made by
migration and brought to this table after every `migrate`; for anything else make a group of your own.
"""

_VIEW = [
    "agents.view_agent",
    "agents.view_agentversion",
    "agents.view_document",
    "agents.view_documentversion",
    "agents.view_protectedaccess",
    "agents.view_protectedpath",
    "companies.view_company",
    "cycles.view_quarantine",
    "experiences.view_experience",
    "knowledge.view_injection",
    "knowledge.view_confidenceevent",
    "knowledge.view_knowledge",
    "knowledge.view_learningitem",
    "knowledge.view_outcome",
    "lessons.view_changecheck",
    "lessons.view_lesson",
    "lessons.view_recalllog",
    "lessons.view_repository",
    "memory.view_phrase",
    "parameters.view_parameter",
    "parameters.view_parameterchange",
    "patterns.view_pattern",
    "receipts.view_receipt",
    "receipts.view_receiptline",
    "proposals.view_gitmirrorcommit",
    "proposals.view_proposal",
    "proposals.view_proposalitem",
]

_EDIT = [
    "agents.add_agent",
    "agents.change_agent",
    "agents.copy_agent",
    "agents.switch_agent",
    "agents.restore_agent",
    "agents.add_document",
    "agents.change_document",
    "experiences.add_experience",
    "experiences.change_experience",
    "experiences.delete_experience",
    "knowledge.add_knowledge",
    "knowledge.add_learningitem",
    "knowledge.change_knowledge",
    "knowledge.change_learningitem",
    "lessons.add_lesson",
    "lessons.change_lesson",
    "patterns.add_pattern",
    "patterns.change_pattern",
    "proposals.add_proposal",
    "proposals.change_proposal",
]

_APPROVE = [
    "knowledge.change_knowledge",
    "knowledge.change_learningitem",
    "knowledge.confirm_knowledge",
    "lessons.change_lesson",
    "lessons.confirm_lesson",
    "lessons.delete_lesson",
    "lessons.promote_lesson",
    "patterns.change_pattern",
    "patterns.decide_pattern",
    "proposals.apply_proposal",
    "proposals.approve_proposal",
    "proposals.change_proposal",
    "proposals.retry_gitmirrorcommit",
    "proposals.rollback_proposal",
]

_ADMINISTER = [
    "accounts.add_user",
    "accounts.change_user",
    "accounts.view_user",
    "agents.delete_agent",
    "agents.import_agent",
    "agents.add_protectedpath",
    "agents.change_protectedpath",
    "agents.delete_protectedpath",
    "auth.view_group",
    "companies.add_company",
    "companies.change_company",
    "companies.add_apikey",
    "companies.view_apikey",
    "companies.revoke_apikey",
    "cycles.add_quarantine",
    "cycles.change_quarantine",
    "lessons.add_repository",
    "lessons.change_repository",
    "memory.add_phrase",
    "memory.change_phrase",
    "memory.delete_phrase",
]

ROLES: dict[str, list[str]] = {
    "Viewer": _VIEW,
    "Editor": _VIEW + _EDIT,
    "Approver": _VIEW + _APPROVE,
    "Administrator": _VIEW + _EDIT + _APPROVE + _ADMINISTER,
}
