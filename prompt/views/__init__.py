"""Doors of the prompt: the endpoint for runtimes, the preview page for staff."""

from prompt.views.endpoint import PromptView
from prompt.views.page import preview

__all__ = ["PromptView", "preview"]
