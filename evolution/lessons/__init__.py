"""Lessons: records of mistakes, captured from history, confirmed by a person, recalled before the next task.

In: commits (read from a repository or pushed), Markdown files, tasks about to start, changes about to be merged.
Out: drafts for a person, the few lessons that matter with the reasons, and what an old lesson says of a change.
`rules` compute, `markdown` reads and writes files as text, `gitlog` reads repositories; none of them stores.
"""
