"""The agents API: agents, rows, versions, documents, protected paths."""
