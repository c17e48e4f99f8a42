"""Care for the whole database, on SQLite and PostgreSQL; no tables of its own.

In: a file, a company. Out: `backups.backup_database`, `read_backup` and `restore_database`, and what a database must
pass to be trusted (`verification`): receipt chains, guards of the append-only tables.
"""
