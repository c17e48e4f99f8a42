"""Tenants and the API keys of their runtimes.

In: companies, memberships, keys; `Authorization: Bearer` texts. Out: `Company`, `ApiKey`, which company a
request acts for (`selectors`), making and revoking keys (`services`).
"""
