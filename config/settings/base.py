"""Settings that hold in every profile."""

from typing import Any

from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _

from config import agent_tabs, logs
from config.env import BASE_DIR, VAR_DIR, env
from config.roles import ROLES
from config.schedule import SCHEDULE
from config.sidebar import SIDEBAR

#: Which of the profiles is running: base, local (embedded), test or production.
PROFILE = "base"
DEFAULT_SECRET_KEY = "insecure-default-for-one-machine-only"

SECRET_KEY = env.str("SECRET_KEY", DEFAULT_SECRET_KEY)
SECRET_KEY_FALLBACKS: list[str] = env.list("SECRET_KEY_FALLBACKS", [])
#: HMAC pepper of API keys; old peppers stay valid for verification while keys are rotated.
API_KEY_PEPPER = env.str("API_KEY_PEPPER", DEFAULT_SECRET_KEY)
API_KEY_PEPPER_FALLBACKS: list[str] = env.list("API_KEY_PEPPER_FALLBACKS", [])

DEBUG = False
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [])

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "unfold.contrib.forms",
    "config.apps.FieldbookAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_prometheus",
    "django_structlog",
    "common.accounts",
    "common.companies",
    "common.counters",
    "common.receipts",
    "common.idempotency",
    "common.search",
    "common.api",
    "common.maintenance",
    "experiences",
    "agents",
    "evolution.parameters",
    "evolution.knowledge",
    "evolution.lessons",
    "evolution.memory",
    "evolution.patterns",
    "evolution.proposals",
    "evolution.cycles",
    "prompt",
    "config",
]

MIDDLEWARE = [
    "django_prometheus.middleware.PrometheusBeforeMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
    "common.api.middleware.RequestIdHeaderMiddleware",
    "common.api.middleware.StrictInputMiddleware",
    "django_prometheus.middleware.PrometheusAfterMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = True

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "django.template.context_processors.i18n",
                "common.companies.context.company_switcher",
            ]
        },
    }
]

SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": (
        "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;"
        "PRAGMA recursive_triggers=ON;PRAGMA foreign_keys=ON;PRAGMA cache_size=-16000;"
    ),
}


def database(url: str) -> dict:
    """Django's settings for `url`: persistent connections, SQLite tuned for several writers."""
    config = env.dj_db_url("_UNSET_DATABASE_URL", url)
    # Opening SQLite with its pragmas takes ten times as long as most queries, so both keep their connections.
    config = {**config, "CONN_MAX_AGE": env.int("DATABASE_CONN_MAX_AGE", 600)}
    if config["ENGINE"].endswith("sqlite3"):
        return {**config, "OPTIONS": SQLITE_OPTIONS}
    return {
        **config,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            **config.get("OPTIONS", {}),
            "options": "-c statement_timeout=15000 -c lock_timeout=10000 "
            "-c idle_in_transaction_session_timeout=30000",
            "connect_timeout": 2,
        },
    }


DATABASES = {"default": database(env.str("DATABASE_URL", f"sqlite:///{VAR_DIR / 'db.sqlite3'}"))}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHE_URL = env.str("CACHE_URL", "")
CACHES = {
    "default": (
        {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": CACHE_URL}
        if CACHE_URL
        else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "fieldbook"}
    )
}

AUTH_USER_MODEL = "accounts.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
#: Read by `create_first_admin` only.
FIELDBOOK_ADMIN_USERNAME = env.str("FIELDBOOK_ADMIN_USERNAME", "")
FIELDBOOK_ADMIN_PASSWORD = env.str("FIELDBOOK_ADMIN_PASSWORD", "")
FIELDBOOK_ADMIN_EMAIL = env.str("FIELDBOOK_ADMIN_EMAIL", "")
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 3600
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "common.api.errors.csrf_failure"
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"

LANGUAGE_CODE = env.str("LANGUAGE_CODE", "zh-hans")
LANGUAGES = [("zh-hans", "简体中文"), ("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = ["config.formats"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = env.str("TIME_ZONE", "Asia/Shanghai")

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]

#: Request bodies of the API; reliability promises 413 before parsing.
API_MAX_BODY_BYTES = 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 20 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "common.api.authentication.ApiKeyAuthentication",
        "common.api.authentication.StaffSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["common.api.permissions.ScopePermission"],
    "DEFAULT_PARSER_CLASSES": [
        "common.api.parsers.StrictJSONParser",
        "common.api.parsers.StrictFormParser",
    ],
    "DEFAULT_RENDERER_CLASSES": ["common.api.renderers.RawJSONRenderer"],
    "DEFAULT_THROTTLE_CLASSES": ["common.api.throttling.KeyRateThrottle"],
    "DEFAULT_PAGINATION_CLASS": "common.api.pagination.PageNumberPagination",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "common.api.schema.ProblemAutoSchema",
    "EXCEPTION_HANDLER": "common.api.errors.exception_handler",
    # `?format=` is a parameter of the receipt export; what an answer looks like is said by `Accept`.
    "URL_FORMAT_OVERRIDE": None,
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "COERCE_DECIMAL_TO_STRING": True,
    "UNICODE_JSON": True,
    "COMPACT_JSON": True,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Fieldbook",
    "DESCRIPTION": "What LLM agents have learned: prompts, experiences, documents, receipts.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    # Choices stay where they are used: names made of field names collide as soon as two rooms have a `status`.
    "POSTPROCESSING_HOOKS": [],
}

#: Requests a minute per API key; 0 switches the limit off.
API_RATE_LIMIT_PER_MINUTE = env.int("API_RATE_LIMIT_PER_MINUTE", 0)
#: With True a write on a versioned resource without If-Match answers 428.
REQUIRE_IF_MATCH = env.bool("REQUIRE_IF_MATCH", False)

#: With True the proposer of a high-risk change may approve it (for teams of one).
PROPOSALS_ALLOW_SELF_APPROVAL = env.bool("PROPOSALS_ALLOW_SELF_APPROVAL", False)
#: Memory that the recall indexes of one process may take; the least recently used leave first.
SEARCH_MEMORY_MB = env.int("SEARCH_MEMORY_MB", 256)
#: Above so many records of one kind and company the database proposes candidates.
SEARCH_MAX_IN_MEMORY = env.int("SEARCH_MAX_IN_MEMORY", 200_000)
#: Constants of recall that differ from those of evolution.lessons.rules.recall.Weights, by name.
LESSONS_RECALL_WEIGHTS: dict[str, Any] = {}
#: Folders below which git histories may be read. Empty: none in production, any in the embedded profile.
LESSONS_REPOSITORY_ROOTS: list[str] = env.list("LESSONS_REPOSITORY_ROOTS", [])
#: Less severe captures (low, medium, high) are skipped in every repository.
LESSONS_MIN_SEVERITY = env.str("LESSONS_MIN_SEVERITY", "low")
#: Above so many active PRACT-EXP of a company the least recently recalled are archived.
LESSONS_PRACT_CAP = env.int("LESSONS_PRACT_CAP", 200)
#: Folder of the git mirror (one repository an agent, one folder a company); empty switches it off.
AGENTS_GIT_ROOT = env.str("AGENTS_GIT_ROOT", "")

#: Functions of higher rooms that add to the exported lines of a receipt (its id -> mapping).
RECEIPT_FOLLOW_UPS = ["evolution.proposals.selectors.git_commits"]

BROKER_URL = env.str("BROKER_URL", "filesystem://")
BROKER_DIR = VAR_DIR / "broker"
CELERY_BROKER_URL = BROKER_URL
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {
        "data_folder_in": str(BROKER_DIR / "messages"),
        "data_folder_out": str(BROKER_DIR / "messages"),
        "control_folder": str(BROKER_DIR / "control"),
        "store_processed": False,
    }
    if BROKER_URL.startswith("filesystem:")
    else {"visibility_timeout": 600, "socket_timeout": 2, "socket_connect_timeout": 2}
)
CELERY_TASK_ALWAYS_EAGER = env.bool("CELERY_TASK_ALWAYS_EAGER", False)
CELERY_TASK_EAGER_PROPAGATES = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_TIME_LIMIT = 300
CELERY_TASK_SOFT_TIME_LIMIT = 270
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 20
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TIMEZONE = TIME_ZONE
CELERY_BEAT_SCHEDULE = SCHEDULE
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "celerybeat-schedule")

#: The four built-in groups and what they may do; applied after every migrate.
ROLE_PERMISSIONS = ROLES

#: What the Agent page is made of; see `config/agent_tabs.py`.
AGENT_TABS = agent_tabs.AGENT_TABS
PROMPT_DIFF = agent_tabs.PROMPT_DIFF
PROMPT_PREVIEW_URL = agent_tabs.PROMPT_PREVIEW_URL


UNFOLD = {
    "SITE_TITLE": "Fieldbook",
    "SITE_HEADER": "Fieldbook",
    "SITE_SUBHEADER": _("What your agents have learned"),
    "SITE_URL": reverse_lazy("admin:index"),
    "SITE_SYMBOL": "menu_book",
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("fieldbook/icon.svg")}
    ],
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_LANGUAGES": True,
    "SHOW_BACK_BUTTON": True,
    "STYLES": [
        lambda request: static("fieldbook/admin.css"),
        lambda request: static("fieldbook/agents.css"),
    ],
    "SCRIPTS": [lambda request: static("fieldbook/counter.js")],
    "SIDEBAR": SIDEBAR,
}

#: Background work is handed the request id; the worker's side is in config/celery.py.
DJANGO_STRUCTLOG_CELERY_ENABLED = True
logs.configure()
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "console": logs.formatter(logs.CONSOLE),
        "json": logs.formatter(logs.JSON),
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": env.str("LOG_FORMAT", "console")}
    },
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", "INFO")},
}
