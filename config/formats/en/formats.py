"""Dates of this language: those of `config.formats`."""

from config.formats import *  # noqa: F403
