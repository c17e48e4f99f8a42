"""The rules of recall on real histories: `python -m bench.recall_rules DATA_FOLDER [--queries N]`.

DATA_FOLDER holds `curl.*` and `django.*` of a retrieval benchmark: commits as records, later commits as tasks,
and which earlier commits their authors named. Only records before a task are candidates. Prints nDCG@10 of the
score, and how many of the right hits in the top 5 keep relevance 0.3 and 0.6. About a minute.
"""

import argparse
import gzip
import json
import math
import time
from datetime import UTC, datetime
from pathlib import Path

from evolution.lessons.rules.library import Library, entry_of
from evolution.lessons.rules.recall import recall_query


def read(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def ndcg(ranked, relevant, depth=10):
    gain = sum(1 / math.log2(place + 2) for place, key in enumerate(ranked[:depth]) if key in relevant)
    best = sum(1 / math.log2(place + 2) for place in range(min(len(relevant), depth)))
    return gain / best


def day_of(record):
    return datetime.fromtimestamp(record["ts"], UTC).date()


def evaluate(folder, name, wanted):
    records = read(folder / f"{name}.records.jsonl.gz")
    queries = sorted(read(folder / f"{name}.queries.jsonl.gz"), key=lambda query: query["before"])
    step = max(len(queries) // wanted, 1)
    library, added, gains = Library(), 0, []
    trusted = []
    indexing = searching = 0.0
    for query in queries[::step]:
        started = time.perf_counter()
        while added < query["before"]:
            record = records[added]
            library.add(
                record["id"], entry_of(record["title"], record["text"], record["files"], [], day_of(record))
            )
            added += 1
        indexed = time.perf_counter()
        task = (
            query["text"]
            if query["text"].startswith(query["title"])
            else f"{query['title']}\n{query['text']}"
        )
        request = recall_query(task, [], query["files"])
        hits = library.search(request, day_of(records[added - 1]), top_k=10)
        gains.append(ndcg([hit.key for hit in hits], set(query["relevant"])))
        trusted += [hit.relevance.value for hit in hits[:5] if hit.key in query["relevant"]]
        indexing += indexed - started
        searching += time.perf_counter() - indexed
    kept = [sum(value >= limit for value in trusted) / max(len(trusted), 1) for limit in (0.3, 0.6)]
    print(
        f"{name:8} queries {len(gains):4}  nDCG@10 {sum(gains) / len(gains):.3f}  right hits in the top 5 "
        f"{len(trusted)}, kept at 0.3 {kept[0]:.1%}, strong {kept[1]:.1%}  "
        f"({indexing:.0f} s indexing {added}, {1000 * searching / len(gains):.0f} ms a query)"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--queries", type=int, default=120)
    parser.add_argument("--set", choices=["curl", "django"], action="append")
    arguments = parser.parse_args()
    for name in arguments.set or ["curl", "django"]:
        evaluate(arguments.folder, name, arguments.queries)


if __name__ == "__main__":
    main()
