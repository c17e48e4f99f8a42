"""Every write to an agent's body. All go through `editing.edit_agent`: lock, change, version, receipt."""
