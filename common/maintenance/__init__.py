"""Backup and restore of the whole database, on SQLite and PostgreSQL; no tables."""
