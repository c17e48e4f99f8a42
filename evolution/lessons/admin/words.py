"""What the numbers of a recall mean, in plain words."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

BAND_COLOURS = {"strong": "success", "possible": "info", "": "warning"}
BANDS = {"strong": _("strong"), "possible": _("possible"), "": _("weak")}
#: Dimensions of the relevance.
DIMENSIONS = {
    "tags": (_("Tags"), _("Tags in common, of all tags of the task and of the lesson")),
    "keywords": (_("Words"), _("Words of the task that the lesson has; rare words count more")),
    "files": (
        _("Files"),
        _("How well the task's files fit those of the lesson: the same, in a listed folder, the same name"),
    ),
}
#: Parts of the score, in the order in which they are shown.
PARTS = {
    "files": _("Files of the task that the lesson lists; rare ones count more"),
    "tags": _("Tags of the task that the lesson has; rare ones count more"),
    "text": _("Words of the task in title, takeaway and what went wrong"),
    "title": _("Words of the first line of the task in the title"),
    "file_words": _("Words of the task in the names of the lesson's files"),
    "path": _("Folders and file names that the paths have in common"),
}
#: What else is told of a lesson that is missing.
TOLD = {"state": _("status"), "expires": _("expires"), "relevance": _("relevance"), "rank": _("place")}
REASONS = {
    "returned": _("It is in the answer."),
    "unknown": _("There is no such lesson."),
    "state": _("Its state keeps it out."),
    "scope": _("It belongs to another agent."),
    "expired": _("Its last day is over."),
    "relevance": _("Its relevance is too low."),
    "rank": _("Others fit better; ask for more lessons."),
    "no_match": _("It has nothing in common with the task."),
}
