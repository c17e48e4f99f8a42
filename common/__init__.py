"""What every room stands on.

Rooms with tables: `accounts`, `companies`, `counters`, `idempotency`, `receipts`.
Plumbing without tables: errors, actors, text, tokens, diff, redaction, front matter,
CSV, the bases of the API (`common.api`), of the admin and of the archive commands.
Nothing in here knows what an Agent is.
"""
