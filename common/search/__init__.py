"""The recall index: rows of tokens by (company, kind, object), answered from flat arrays in memory.

In (in the transaction of the row's own write, before its receipt): `services.index_objects(company=, kind=,
entries=[Entry(object_id, fields={"title": [...], ...}, attributes=Attributes(day=...))])`, `remove_objects(...)`.
Out: `selectors.search(company=, kind=, query=Query({"text": Bm25("text", tokens, k1=0.9, b=0.4, weight=1.5),
"files": Share("path", [["=a/b.py", "=a/"]], weight=15)}, recency=Recency(today), rarities={"keywords": tokens}),
scope=Scope(agent_id=7, today=today), limit=10)` -> `Ranked`: `hits` (object_id, score, signals, parts, recency),
`scanned`, `rarity`, `chunks()` for as many more as you want, `place_of(object_id)`. Stale answers do not exist.
`measure(...)` tells of all documents in scope what they have of each signal; `document_frequencies(...)`.
Each room registers its kind in `AppConfig.ready`: `sources.register(kind, source)`; see `rebuild_search`.
"""
