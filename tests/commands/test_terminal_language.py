"""Commands speak the language of the terminal, whatever the pages speak."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from config.terminal import terminal_language

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh-hans"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LANGUAGE": "zh:en"}, "zh-hans"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, "zh-hans"),
    ],
)
def test_the_terminal_names_its_language_as_for_gettext(environment, language):
    assert terminal_language(environment) == language


@pytest.mark.parametrize(
    ("lang", "told"), [("en_US.UTF-8", "there is no file or folder"), ("zh_CN.UTF-8", "没有")]
)
def test_an_error_of_a_command_is_in_the_language_of_the_terminal(tmp_path, lang, told):
    kept = {
        name: text for name, text in os.environ.items() if name not in ("LANGUAGE", "LC_ALL", "LC_MESSAGES")
    }
    environment = {
        **kept,
        "LANG": lang,
        "DJANGO_SETTINGS_MODULE": "config.settings.test",
        "PYTHONIOENCODING": "utf-8",
    }
    script = (
        "import django, runpy, sys; from unittest import mock; django.setup(); "
        "sys.argv = ['manage.py', 'import_agents', 'nowhere', '--company', '_global']; "
        "mock.patch('agents.management.commands.import_agents.company_by_slug').start(); "
        "runpy.run_path('manage.py', run_name='__main__')"
    )
    ended = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, check=False
    )
    assert told in ended.stderr.decode()
