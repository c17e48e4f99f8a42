"""An agent's identity: role definition, settings, versions, documents, and what protects them.

In: what staff, runtimes with `agents:write` and applied proposals want changed. Out: agents, their rows (through
`experiences`), documents, versions, the protection check. Every write locks the Agent row, raises its version,
keeps an AgentVersion and leaves a receipt.
"""
