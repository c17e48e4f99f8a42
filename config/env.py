"""The one reader of environment variables. Every variable is described in docs/operations.md."""

from pathlib import Path

from environs import Env

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = BASE_DIR / "var"

env = Env()
env.read_env(str(BASE_DIR / ".env"), recurse=False)
