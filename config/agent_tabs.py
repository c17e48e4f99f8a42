"""What the Agent page is made of beyond the agent itself; rooms above `agents` put their parts in here.

A tab is an inline that is saved with the agent, or a subclass of `agents.admin.tabs.AgentTab`.
"""

#: The tabs behind the role definition, from left to right.
AGENT_TABS = [
    "experiences.admin.ExperienceInline",
    "agents.admin.tabs.DocumentTab",
    "evolution.lessons.admin.tab.LessonTab",
    "evolution.knowledge.admin.tab.KnowledgeTab",
    "evolution.proposals.admin.tab.ProposalTab",
    "agents.admin.tabs.ReceiptTab",
]

#: What a save would change in the prompt: `prompt_diff(agent, company, *, now, role, rows, ...)` -> unified diff.
#: Without it the page compares role and rows.
PROMPT_DIFF = "prompt.services.prompt_diff"

#: The page that renders the prompt of an agent (its id is the argument).
PROMPT_PREVIEW_URL = "agent-prompt-preview"
