"""The switchboard: settings, urls, every endpoint, every periodic job, the sidebar, the Agent page's tabs.

Imports every room and is imported by none.
"""

from config.celery import app as celery_app

__all__ = ["celery_app"]
