"""Demo data: two companies, people of every role, agents in Chinese and English.

In: the Markdown files of `files/` (one folder a company, in it one an agent: role.md, experiences.md, documents/).
Out: `seeding.seed_demo`, which adds them once, and `access.Access`, what a person needs to get in.
"""
