"""The bases of every REST endpoint: who calls and for which company, strict input, one shape of errors, versions.

No endpoint lives here; each room brings its own and `config/api_router.py` lists them all.
"""
