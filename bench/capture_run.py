"""In the application: one call of `capture_lessons` in a process of its own, and what it used.

Run as `python -m bench.capture_run FOLDER MOST`; prints one line of JSON.
"""

from __future__ import annotations

import contextlib
import io
import json
import resource
import sys
import time


def main() -> None:
    import django  # noqa: PLC0415  settings come first

    django.setup()
    from django.core.management import call_command  # noqa: PLC0415

    from common.companies.models import Company  # noqa: PLC0415
    from evolution.lessons.models import Lesson, Repository  # noqa: PLC0415

    folder, most = sys.argv[1], sys.argv[2]
    company, _made = Company.objects.get_or_create(slug="bench", defaults={"name": "Bench"})
    Repository.objects.get_or_create(company=company, name="history", defaults={"path": folder})
    before = _cpu()
    started = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        call_command("capture_lessons", "--repository", "history", "--max", most)
    seconds = time.perf_counter() - started
    report = Repository.objects.get(company=company).last_report
    told = {
        "seconds": seconds,
        "cpu": _cpu() - before,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "scanned": report["scanned"],
        "left": report["left"],
        "lessons": Lesson.objects.count(),
    }
    print(json.dumps(told))


def _cpu() -> float:
    """Processor seconds of this process and of every git that it has started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


if __name__ == "__main__":
    main()
