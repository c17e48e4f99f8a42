"""Where a learning point of a type belongs. docs/rules.md: targets of teachings."""

from __future__ import annotations

from agents.models import Agent, Document
from agents.rules.paths import DocumentKind
from agents.selectors import current_documents
from common.front_matter import split_front_matter
from evolution.memory.rules.skills import SkillCue

LEARNED = "learned.md"


def target_for(item_type: str, agent: Agent, user_id: str, skill: str | None) -> str:
    """The document of a learning point: the user's profile or memory, the skill, the principles, the memory."""
    if item_type == "user_preference":
        return f"users/{user_id}/profile.md"
    if item_type == "relationship_memory":
        return f"users/{user_id}/agents/{agent.pk}/memory/{LEARNED}"
    if skill is not None:
        return f"skills/{skill}/SKILL.md"
    if item_type == "behavior_rule":
        return "principles.md"
    return f"memory/{LEARNED}"


def skill_cues(agent: Agent) -> list[SkillCue]:
    """The agent's skills with the words of their `domain`, from skills/*/SKILL.md."""
    skills = Document.objects.filter(agent=agent, is_body=True, kind=DocumentKind.SKILL)
    cues = []
    for document in current_documents(skills):
        parts = document.path.split("/")
        if len(parts) == 3 and parts[2].casefold() == "skill.md":
            domain = split_front_matter(document.text).meta.get("domain") or []
            words = domain if isinstance(domain, list) else str(domain).replace("，", ",").split(",")
            cues.append(SkillCue(parts[1], tuple(str(word).strip() for word in words if str(word).strip())))
    return cues
