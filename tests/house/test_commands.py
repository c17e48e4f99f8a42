"""Nobody can forget: every management command explains itself and has a test that runs it."""

import argparse
import re
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import load_command_class

from tests.house.scripts import ROOT


def own_commands():
    """(app, command) of every command of our own rooms."""
    for app in apps.get_app_configs():
        folder = Path(app.path) / "management" / "commands"
        if ROOT in folder.parents and ".venv" not in folder.parts:
            yield from ((app.name, file.stem) for file in sorted(folder.glob("[a-z]*.py")))


def own_arguments(app, name):
    """The arguments that the command adds to those of every command of Django."""
    parser = load_command_class(app, name).create_parser("manage.py", name)
    ours = argparse.ArgumentParser(add_help=False)
    load_command_class(app, name).add_arguments(ours)
    wanted = {action.dest for action in ours._actions}
    return [action for action in parser._actions if action.dest in wanted], parser


def names_in_tests():
    """Words that stand alone between quotes somewhere in the tests: what `call_command` is given."""
    files = set((ROOT / "tests").rglob("*.py")) - {Path(__file__)}
    sources = [path.read_text(encoding="utf-8") for path in files]
    return set(re.findall(r"[\"']([a-z]+_[a-z_]+)[\"']", "\n".join(sources)))


@pytest.mark.parametrize(("app", "name"), sorted(own_commands()))
def test_help_says_what_the_command_does_and_what_each_option_means(app, name):
    arguments, parser = own_arguments(app, name)
    assert len(parser.description or "") > 40
    silent = [action.dest for action in arguments if not action.help]
    assert silent == []
    assert f"usage: manage.py {name}" in parser.format_help()


@pytest.mark.parametrize(("app", "name"), sorted(own_commands()))
def test_names_are_verb_noun(app, name):
    assert re.fullmatch(r"[a-z]+(_[a-z]+)+", name)


def test_every_command_has_a_test():
    assert {name for _app, name in own_commands()} - names_in_tests() == set()


def test_the_search_for_commands_finds_them():
    assert {"import_agents", "seed_demo", "forget_requests"} <= {name for _app, name in own_commands()}
