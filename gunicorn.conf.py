"""The web server's settings, for `make run` and for the container alike. Variables: docs/operations.md."""

import os
from pathlib import Path

from prometheus_client import multiprocess

METRICS_DIR = os.environ.get("PROMETHEUS_MULTIPROC_DIR", "")

wsgi_app = "config.wsgi:application"
bind = os.environ.get("WEB_BIND", "127.0.0.1:8000")
worker_class = "gthread"
# Into the environment, where the system checks of the workers look for it.
workers = int(os.environ.setdefault("WEB_CONCURRENCY", "2"))
threads = int(os.environ.get("WEB_THREADS", "4"))
#: Lets a new release bind beside the old one. With one worker it would only hide a second server on the port.
reuse_port = workers > 1
#: Above the idle time of common load balancers (60 s): the balancer closes first, and no request meets a
#: closed socket.
keepalive = 75
timeout = 30
graceful_timeout = 20
limit_request_line = 4094
limit_request_fields = 64
limit_request_field_size = 8190
#: Worker heartbeats in memory: a busy disk must not look like a hanging worker.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108
control_socket_disable = True
accesslog = None
loglevel = os.environ.get("WEB_LOG_LEVEL", "info")


def on_starting(server):
    """Counters of processes that are long gone would be added to today's."""
    if METRICS_DIR:
        folder = Path(METRICS_DIR)
        folder.mkdir(parents=True, exist_ok=True)
        for stale in folder.glob("*.db"):
            stale.unlink(missing_ok=True)


def child_exit(server, worker):
    """Gauges of a worker that ended must not stay in /metrics."""
    if METRICS_DIR:
        multiprocess.mark_process_dead(worker.pid, METRICS_DIR)
