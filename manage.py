#!/usr/bin/env python
"""Django's command-line entry; settings default to the embedded profile."""

import os
import sys

import django
from django.core.management import execute_from_command_line
from django.utils import translation

from config.terminal import terminal_language

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")
    django.setup()
    translation.activate(terminal_language(os.environ))
    execute_from_command_line(sys.argv)
