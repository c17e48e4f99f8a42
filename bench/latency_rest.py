"""Recall through the whole REST API at 10,000 lessons beside an endpoint that only says hello, in one process.

Also what a flood of reported drafts changes in the answers: nothing. Imported after `django.setup()`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from django.test import override_settings
from django.urls import include, path
from django.utils import timezone
from rest_framework.response import Response

from bench.latency_data import Question, questions, records
from bench.recall_peers import Ours, Record
from common.actors import Actor, Channel
from common.api.views import FieldbookView
from common.counters.services import raise_to
from evolution.lessons.models import PREFIX, Lesson
from evolution.lessons.services.storing import create_lesson

LESSONS, JUNK = 10_000, 1_000
TARGET = 3.0
SHOWN = ("matched_experiences", "total_experiences_scanned")


class HelloView(FieldbookView):
    """Authenticated like every endpoint; says a constant."""

    any_scope = True

    def get(self, request: Any) -> Response:
        return Response({"hello": "world"})


urlpatterns = [path("api/v1/hello", HelloView.as_view()), path("", include("config.urls"))]


@override_settings(ROOT_URLCONF=__name__)
def measure_rest(options: argparse.Namespace) -> list[str]:
    """Print the table and the flood; what missed its target."""
    ours = Ours("rest")
    library = records(LESSONS)
    today = timezone.localdate()
    ours.add([_recorded(number, record, today) for number, record in enumerate(library, 1)])
    asked = [_body(question) for question in questions(library, options.questions)]
    doors: dict[str, Callable[[str], Any]] = {
        "GET /hello": lambda body: ours.client.get("/api/v1/hello"),
        "POST /lessons/recall, logged": lambda body: _post(ours, body),
        "GET /lessons/recall, a try-out": lambda body: ours.client.get(
            "/api/v1/lessons/recall", json.loads(body)
        ),
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in doors}
    for turn in range(options.rounds + 1):
        for body in asked:  # the doors in turn, so that the noise of the machine meets all of them
            for name, door in doors.items():
                took = _timed(door, body)
                times[name] += [took] if turn else []
    missed = _print(times)
    return missed + _flood(ours, asked)


def _recorded(number: int, record: Any, today: date) -> Record:
    return Record(number, record.title, record.text, record.files, today - timedelta(days=number % 700))


def _body(question: Question) -> str:
    return json.dumps({"task": " ".join(question.words), "files": question.files, "top_k": 10})


def _post(ours: Ours, body: str) -> Any:
    return ours.client.post("/api/v1/lessons/recall", body, content_type="application/json")


def _timed(door: Callable[[str], Any], body: str) -> tuple[float, float]:
    """Elapsed and processor seconds."""
    started, used = time.perf_counter(), time.process_time()
    answer = door(body)
    took = time.perf_counter() - started, time.process_time() - used
    if answer.status_code != 200:
        raise SystemExit(answer.content.decode())
    return took


def _print(times: dict[str, list[tuple[float, float]]]) -> list[str]:
    print(f"\nthrough the REST API, {LESSONS:,} lessons, SQLite, one process")
    print(
        f"{'request':<32}{'p50 ms':>8}{'p95 ms':>8}{'p50 / hello':>13}{'p95 / hello':>13}{'processor p95 / hello':>23}"
    )
    figures = {name: [_percentiles(own, part) for part in (0, 1)] for name, own in times.items()}
    hello = figures["GET /hello"]
    missed = []
    for name, (elapsed, used) in figures.items():
        ratio = elapsed[1] / hello[0][1]
        print(
            f"{name:<32}{elapsed[0] * 1000:>8.2f}{elapsed[1] * 1000:>8.2f}{elapsed[0] / hello[0][0]:>13.1f}"
            f"{ratio:>13.1f}{used[1] / hello[1][1]:>23.1f}{'  missed' * (ratio > TARGET)}"
        )
        missed += [name] if ratio > TARGET else []
    print(f"(target: p95 <= {TARGET:g} x hello)")
    return missed


def _percentiles(times: list[tuple[float, float]], part: int) -> tuple[float, float]:
    ordered = sorted(each[part] for each in times)
    return ordered[len(ordered) // 2], ordered[min(len(ordered) * 95 // 100, len(ordered) - 1)]


def _flood(ours: Ours, asked: list[str]) -> list[str]:
    """Drafts that repeat the words, tags and files of the questions, from one key: each answer stays as it was."""
    raise_to(company_id=ours.company.pk, prefix=PREFIX, number=LESSONS)
    before = [_answer(ours, body) for body in asked]
    actor = Actor(name="key:flood", channel=Channel.API)
    for number in range(JUNK):
        body = json.loads(asked[number % len(asked)])
        values = {
            "title": body["task"][:200],
            "what": f"{body['task']} " * 5,
            "related_files": body["files"],
        }
        create_lesson(company=ours.company, values=values, actor=actor, now=timezone.now())
    changed = sum(_answer(ours, body) != old for body, old in zip(asked, before, strict=True))
    # The control: confirmed, the same texts would change what is found.
    drafts = Lesson.objects.filter(company=ours.company, status="draft").order_by("pk")[: len(asked)]
    ours.add(
        [_recorded(LESSONS + 2 * JUNK + n, _Copy(draft), date.today()) for n, draft in enumerate(drafts)]
    )
    control = sum(_answer(ours, body) != old for body, old in zip(asked, before, strict=True))
    print(
        f"\n{JUNK:,} junk drafts of one key: {changed} of {len(asked)} answers changed (target 0; confirmed: {control})"
    )
    return ["junk drafts"] if changed or not control else []


class _Copy:
    """A draft's words as a lesson's."""

    def __init__(self, draft: Lesson) -> None:
        self.title, self.text, self.files = draft.title, draft.what, draft.related_files


def _answer(ours: Ours, body: str) -> dict[str, Any]:
    told = _post(ours, body).json()
    return {name: told[name] for name in SHOWN}
