"""Settings of the Django project, all from the environment (backend.env)."""

from __future__ import annotations

from pathlib import Path

from backend import authorities, env, peers
from backend.api.contract import openapi
from backend.console.site_settings import console_settings

BASE_DIR = Path(__file__).resolve().parents[1]
# What the process is. Each demands and reads the secrets that it uses, and no others: only those that serve pages sign
# sessions and check keys, and only they and the sender of webhooks open what is sealed. The console has a host name,
# cookies and a database role of its own.
PROCESS = env.choice("AVA_PROCESS", "api", ("api", "console", "webhooks", "worker", "signer"))
_SERVES = PROCESS in ("api", "console")
SECRET_KEY = env.text("AVA_SECRET_KEY") if PROCESS == "api" else ""
if PROCESS == "console":
    # Another one, so that neither accepts what the other has signed.
    SECRET_KEY = env.text("AVA_CONSOLE_SECRET_KEY")
DEBUG = env.boolean("AVA_DEBUG", False)
ALLOWED_HOSTS = env.words("AVA_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1],testserver")
PUBLIC_URL = env.text("AVA_PUBLIC_URL", "http://127.0.0.1:8000")
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]

KEY_PEPPERS = env.numbered_secrets("AVA_KEY_PEPPERS") if _SERVES else {}
ENCRYPTION_KEYS = env.numbered_secrets("AVA_ENCRYPTION_KEYS") if PROCESS not in ("worker", "signer") else {}
# Separates tenants in the caches of model servers.
CACHE_SALT_KEY = env.text("AVA_CACHE_SALT_KEY", {"worker": None}.get(PROCESS, SECRET_KEY))

# --- databases: one server, a role for each purpose (backend/tenancy/README.md) -------------------------------------
DATABASES = {
    # Web and workers: owns nothing, and row-level security applies. A request is one transaction.
    "default": {**env.database("DATABASE_URL"), "ATOMIC_REQUESTS": True},
    # Migrations only.
    "owner": env.database("DATABASE_OWNER_URL"),
    # Relay, claims of jobs, key lookup: crosses tenants on a few tables.
    "dispatch": env.database("DATABASE_DISPATCH_URL"),
    # The admin console: reads everything, writes nothing.
    "console": env.database("DATABASE_CONSOLE_URL"),
    # People, sessions and second factors: "people" in the API, which signs customers in, "staff" in the console.
    # Workers hold neither.
    **env.optional_database("DATABASE_PEOPLE_URL", alias="people"),
    **env.optional_database("DATABASE_STAFF_URL", alias="staff"),
}
# PostgreSQL itself, as the role of DATABASE_URL and with its password: a pooler hands on no notices.
LISTEN_DATABASE = {
    **env.database("DATABASE_LISTEN_URL", env.text("DATABASE_URL")),
    "PASSWORD": DATABASES["default"]["PASSWORD"],
}
DATABASE_ROUTERS = ["backend.tenancy.routing.OwnerMigrates", "backend.tenancy.routing.PeopleApart"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- applications ----------------------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.filters",
    # Without a search for lists: only the console's process imports them (backend.console.urls).
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "backend.people",
    "backend.staff",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "backend.tenancy",
    "backend.library",
    "backend.jobs",
    "backend.ekg",
    "backend.playback",
    "backend.questions",
    "backend.webhooks",
    "backend.billing",
    "backend.api",
    "backend.audit",
    "backend.accounts",
    "backend.erasure",
    "backend.clips",
    "backend.shares",
    "backend.console",
    "backend.archives",
    "workers",
]
MIDDLEWARE = [
    "backend.api.middleware.RequestId",
    "backend.observability.middleware.Observed",
    "backend.api.middleware.Recorded",
    "django.middleware.security.SecurityMiddleware",
    "backend.api.browsers.Headers",
    "backend.api.limits.address_limits.AddressLimits",
    "backend.api.browsers.CrossOrigin",
    "backend.api.middleware.Refusing",
    "backend.api.static_files.CompressedStatic",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "backend.people.page_language.PageLanguage",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "backend.people.sessions.Lifetime",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "backend.people.sessions.ProvidersAccounts",
    "backend.people.try_again.CountersAway",
    "backend.webhooks.refused_work.ReportsRefusedWork",
]
ROOT_URLCONF = "backend.urls"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        # Before the apps: the console replaces single templates of unfold.
        "DIRS": [BASE_DIR / "backend" / "console" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
STATIC_URL = "/static/"
# The web app (docs/web.md).
STATICFILES_DIRS = [("web", BASE_DIR / "web")]
# The console's static files are served from the installed packages, so no collect step can be forgotten. A deployment
# that collects them names the folder.
STATIC_ROOT = env.text("AVA_STATIC_ROOT", "") or None
WHITENOISE_USE_FINDERS = True
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
# Pages around the app (backend/people/page_language.py). The app writes the cookie, from web/app/language.js.
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "backend" / "locale"]
LANGUAGE_COOKIE_NAME = "ava_language"
# Dates name their zone.
FORMAT_MODULE_PATH = "backend.api.date_formats"
APPEND_SLASH = False
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PUBLIC_URL.startswith("https://")
# With the prefix a browser takes a cookie from this very host alone, and only by TLS.
SESSION_COOKIE_NAME = "__Host-ava_session" if SESSION_COOKIE_SECURE else "ava_session"
CSRF_COOKIE_NAME = "__Host-ava_csrf" if CSRF_COOKIE_SECURE else "ava_csrf"
SECURE_HSTS_SECONDS = 31_536_000 if PUBLIC_URL.startswith("https://") else 0
# The proxy or load balancer redirects plain http. Other hosts of the operator's domain are not this service's business.
SILENCED_SYSTEM_CHECKS = ["security.W008", "security.W005", "security.W021"]

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "backend.tenancy.authentication.ApiKeyAuthentication",
        "backend.people.authentication.MemberAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["backend.tenancy.authentication.HasScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["backend.api.parsers.BoundedJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "backend.api.contract.schema.WireSchema",
    "EXCEPTION_HANDLER": "backend.api.problems.handle_exception",
    "UNAUTHENTICATED_USER": None,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    # The form of a reply is asked for by Accept, or by a parameter of the operation that the document names.
    "URL_FORMAT_OVERRIDE": None,
}

SPECTACULAR_SETTINGS = openapi.SETTINGS

# --- people (backend.people) -----------------------------------------------------------------------------------------
AUTH_USER_MODEL = "people.Person"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
# Idle limit of a session, and its absolute limit whatever happens.
SESSION_COOKIE_AGE = env.integer("AVA_SESSION_IDLE_SECONDS", 12 * 3600, least=60)
SESSION_ABSOLUTE_SECONDS = env.integer("AVA_SESSION_ABSOLUTE_SECONDS", 7 * 86_400, least=60)
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "app"
LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_ADAPTER = "backend.people.account_rules.AccountRules"
ACCOUNT_FORMS = {"signup": "backend.people.forms.InvitedSignupForm"}
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_MAX_EMAIL_ADDRESSES = 1
ACCOUNT_LOGIN_BY_CODE_ENABLED = True
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = True
# Attempts per address and account; the counters are shared by all processes (CACHES).
ACCOUNT_RATE_LIMITS = {"login": "30/m/ip", "login_failed": "30/m/ip,5/15m/key"}
ACCOUNT_DEFAULT_HTTP_PROTOCOL = PUBLIC_URL.partition(":")[0]
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_FORMS = {
    "authenticate": "backend.people.forms.CodeForm",
    "reauthenticate": "backend.people.forms.CodeAgainForm",
    "authenticate_webauthn": "backend.people.forms.PasskeyForm",
    "login_webauthn": "backend.people.forms.PasskeyAloneForm",
    "add_webauthn": "backend.people.forms.NewPasskeyForm",
    "edit_webauthn": "backend.people.forms.RenamedPasskeyForm",
    "reauthenticate_webauthn": "backend.people.forms.PasskeyAgainForm",
}
MFA_ADAPTER = "backend.people.factor_secrets.SealedFactors"
MFA_TOTP_ISSUER = "AVA Cloud"
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not SESSION_COOKIE_SECURE
SOCIALACCOUNT_ADAPTER = "backend.people.providers.TenantProviders"
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
SOCIALACCOUNT_STORE_TOKENS = False
USERSESSIONS_TRACK_ACTIVITY = False
# A tenant's identity provider on a private address is refused unless the operator allows it.
OIDC_ALLOW_PRIVATE = env.boolean("AVA_OIDC_ALLOW_PRIVATE", False)

# --- outside ---------------------------------------------------------------------------------------------------------
REDIS_URL = env.text("REDIS_URL")
# Counters of attempts to sign in; without them nobody signs in (backend.people.try_again).
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "accounts",
        "OPTIONS": {"socket_timeout": 1, "socket_connect_timeout": 1},
    }
}
authorities.trust(env.text("AVA_CA_FILE", ""))
S3_ENDPOINT_URL = env.text("S3_ENDPOINT_URL", "")
# Where a worker has its requests to the bucket signed (workers/objects/signer.py); it then has no key of the bucket.
SIGNER_URL = env.text("AVA_SIGNER_URL", "") if PROCESS == "worker" else ""
SIGNER_KEY = env.text("AVA_SIGNER_KEY", None if SIGNER_URL else "") if PROCESS == "worker" else ""
# The signer knows the secret of each class of jobs, and a worker that of its own class alone.
SIGNER_KEYS = env.secrets_of_signer() if PROCESS == "signer" else {}
_KEEPS_OBJECTS = not SIGNER_URL and PROCESS != "webhooks"
S3_ACCESS_KEY_ID = env.text("S3_ACCESS_KEY_ID", "") if _KEEPS_OBJECTS else ""
S3_SECRET_ACCESS_KEY = env.text("S3_SECRET_ACCESS_KEY", "") if _KEEPS_OBJECTS else ""
S3_BUCKET = env.text("S3_BUCKET")
S3_REGION = env.text("S3_REGION", "us-east-1")
peers.require_verified({**DATABASES, "listen": LISTEN_DATABASE}, redis=REDIS_URL, storage=S3_ENDPOINT_URL)

# --- limits ----------------------------------------------------------------------------------------------------------
RATE_LIMIT_PER_MINUTE = env.integer("AVA_RATE_LIMIT_PER_MINUTE", 600, least=1)
# Those of them that work something out for nothing: estimates, and lists that are filtered by a text.
# Days for which a clip is kept.
CLIP_DAYS = env.integer("AVA_CLIP_DAYS", 30, least=1)
FREE_REQUESTS_PER_MINUTE = env.integer("AVA_FREE_REQUESTS_PER_MINUTE", 120, least=1)
# Requests of one address, before anybody is authenticated; refusals and log-ins count more (api.address_limits).
ADDRESS_RATE_PER_MINUTE = env.integer("AVA_ADDRESS_RATE_PER_MINUTE", 3_000, least=1)
# Streams and waiting requests of one tenant that are open at once, in all API processes together.
OPEN_STREAMS_PER_TENANT = env.integer("AVA_OPEN_STREAMS_PER_TENANT", 128, least=1)
# The same for one API key, so that one integration leaves room for the tenant's others.
OPEN_STREAMS_PER_KEY = env.integer("AVA_OPEN_STREAMS_PER_KEY", 64, least=1)
# Longest time of one SQL statement of a request. Work in the background has the time-outs of its role.
REQUEST_STATEMENT_SECONDS = env.integer("AVA_REQUEST_STATEMENT_SECONDS", 20, least=1)
# Uploads of one tenant, and of one API key, that are open at once.
OPEN_UPLOADS_PER_TENANT = env.integer("AVA_OPEN_UPLOADS_PER_TENANT", 1_000, least=1)
OPEN_UPLOADS_PER_KEY = env.integer("AVA_OPEN_UPLOADS_PER_KEY", 500, least=1)
# Invitations of one tenant that are open at once, and those that are mailed for it within 24 hours.
OPEN_INVITATIONS_PER_TENANT = env.integer("AVA_OPEN_INVITATIONS_PER_TENANT", 100, least=1)
INVITATION_MAILS_PER_DAY = env.integer("AVA_INVITATION_MAILS_PER_DAY", 200, least=1)
# Minutes of recordings that a tenant of a plan may have indexed in a calendar month (UTC), and tokens that its
# questions and searches may use. A plan that is missing has no limit.
MEDIA_MINUTES_PER_PLAN = env.numbers("AVA_MEDIA_MINUTES_PER_PLAN", "standard=600000")
TOKENS_PER_PLAN = env.numbers("AVA_TOKENS_PER_PLAN", "standard=10000000000")
# List price of begun work that a tenant may end free within an hour, on top of what it is charged in that hour, and its
# retries within an hour, where its plan does not set them.
FREE_WORK_PER_HOUR = env.integer("AVA_FREE_WORK_PER_HOUR", 1, least=0)
RETRIES_PER_HOUR = env.integer("AVA_RETRIES_PER_HOUR", 1_000, least=1)
# Threads of one API process: each runs one request at a time and keeps two database connections.
API_THREADS = env.integer("AVA_API_THREADS", 8, least=1)
# Connections of one API process; further ones are closed at once.
API_CONNECTIONS = env.integer("AVA_API_CONNECTIONS", 2_000, least=1)
# Connections of one address (of IPv6 the /64) in them; those of trusted proxies (FORWARDED_ALLOW_IPS) do not count.
CONNECTIONS_PER_ADDRESS = env.integer("AVA_CONNECTIONS_PER_ADDRESS", 256, least=1)
# Bytes of bodies that one API process holds, in all and of one address; the first 16 KiB of a body do not count.
BODY_BYTES = env.integer("AVA_BODY_BYTES", 64 * 1024**2, least=2 * 1024**2)
BODY_BYTES_PER_ADDRESS = env.integer("AVA_BODY_BYTES_PER_ADDRESS", 8 * 1024**2, least=2 * 1024**2)
# Requests of one address, API key or tenant of API keys that one API process handles at once, those that wait for an
# outcome not counted.
REQUESTS_PER_CALLER = env.integer("AVA_REQUESTS_PER_CALLER", 128, least=1)
# Where each API process answers /healthz and /readyz to probes: host:port, "" for the public port only.
HEALTH_ADDRESS = env.address("AVA_HEALTH_ADDRESS", "")
MAX_UPLOAD_BYTES = env.integer("AVA_MAX_UPLOAD_BYTES", 100 * 1024**3, least=1)
# Storage of a tenant by its plan, in bytes: recordings, and what open uploads have announced. A plan that is missing
# has no limit.
STORAGE_BYTES_PER_PLAN = env.numbers("AVA_STORAGE_BYTES_PER_PLAN", f"standard={5 * 1024**4}")
MAX_VIDEO_MS = env.integer("AVA_MAX_VIDEO_MS", 48 * 3_600_000, least=1)
SEGMENT_MS = env.integer("AVA_SEGMENT_MS", 30_000, least=3_000)
# Segments of one video that wait in the queue while others run. Each free worker takes one, and the next is queued.
SEGMENTS_WAITING = env.integer("AVA_SEGMENTS_WAITING", 4, least=1)
# How entities are linked at the end: incrementally, or again by K-means over all mentions (AVA, section 4.3).
INDEX_LINKING = env.choice("AVA_INDEX_LINKING", "incremental", ("incremental", "kmeans"))
# The global summary is written again after this number of segments, and at the video's end.
SUMMARY_EVERY_SEGMENTS = env.integer("AVA_SUMMARY_EVERY_SEGMENTS", 10, least=1)
LEASE_SECONDS = env.integer("AVA_LEASE_SECONDS", 60, least=2)
HEARTBEAT_SECONDS = env.integer("AVA_HEARTBEAT_SECONDS", 5, least=1)
# Time that running jobs have to end when their worker is asked to stop. Then they are handed back to other workers.
DRAIN_SECONDS = env.integer("AVA_DRAIN_SECONDS", 3, least=0)
# Longest time of one task, and of loading a worker's models. Beyond the first the task is canceled and its job runs
# again; beyond the second the worker exits.
TASK_SECONDS = env.integer("AVA_TASK_SECONDS", 840, least=5)
MODEL_LOAD_SECONDS = env.integer("AVA_MODEL_LOAD_SECONDS", 600, least=5)
# Maximum number of jobs of one tenant that run at once, by class of jobs, or by class@plan for the tenants of a plan.
# A class that is missing has no limit.
JOBS_PER_TENANT = env.numbers(
    "AVA_JOBS_PER_TENANT", "cpu.probe=1,cpu.render=1,io.fetch=4,io.webhook=16,system.delete=2,gpu.index=64,gpu.query=64"
)
# Whether recordings are made ready for playback when they arrive, and not only when somebody wants to watch them.
KEEP_RENDITIONS = env.boolean("AVA_KEEP_RENDITIONS", True)
# Share of each class that a tenant of a plan gets against one of weight 1.
PLAN_WEIGHTS = env.numbers("AVA_PLAN_WEIGHTS", "standard=1")
# Requests to receivers of webhooks that one sender keeps open at once.
WEBHOOK_SOCKETS = env.integer("AVA_WEBHOOK_SOCKETS", 256, least=1)
# The mail server of notices to tenants; without one, no mail is sent.
EMAIL_HOST, EMAIL_PORT, EMAIL_HOST_USER, EMAIL_HOST_PASSWORD, EMAIL_USE_TLS, EMAIL_USE_SSL = env.mail_server(
    "AVA_EMAIL_URL"
)
EMAIL_TIMEOUT = 20
if not EMAIL_HOST:
    EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
DEFAULT_FROM_EMAIL = env.text("AVA_EMAIL_FROM", "noreply@localhost")
# A tenant's own receiver on a private address is refused unless the operator allows it (local stack, tests).
WEBHOOK_ALLOW_PRIVATE = env.boolean("AVA_WEBHOOK_ALLOW_PRIVATE", False)
# The same holds for a recording's URL, for plain http and for unusual ports.
SOURCE_ALLOW_PRIVATE = env.boolean("AVA_SOURCE_ALLOW_PRIVATE", False)
# Throughput below which the fetch of a recording ends: a source that drips must not hold a slot for minutes.
SOURCE_MIN_BYTES_PER_SECOND = env.integer("AVA_SOURCE_MIN_BYTES_PER_SECOND", 65_536, least=1)
# Seconds for which a replaced index version is kept for questions that began on it.
RETIRE_AFTER_SECONDS = env.integer("AVA_RETIRE_AFTER_SECONDS", 3_600, least=0)

# Days for which ended jobs are kept at least, and the model calls behind the ledger. Whole months are deleted at once.
KEEP_HISTORY_DAYS = env.integer("AVA_KEEP_HISTORY_DAYS", 30, least=1)
# An invoice takes the usage of its month that is recorded within the grace after it; later usage goes to the next one.
INVOICE_GRACE_HOURS = env.integer("AVA_INVOICE_GRACE_HOURS", 48, least=0)
INVOICE_DUE_DAYS = env.integer("AVA_INVOICE_DUE_DAYS", 30, least=0)
# The billing system that gets usage and invoices: stripe, lago or openmeter; "" for none.
BILLING_SINK = env.text("AVA_BILLING_SINK", "")
BILLING_SINK_URL = env.text("AVA_BILLING_SINK_URL", "")
BILLING_SINK_KEY = env.text("AVA_BILLING_SINK_KEY", "")
KEEP_MODEL_CALLS_DAYS = env.integer("AVA_KEEP_MODEL_CALLS_DAYS", 92, least=31)

# Namespace in which `publish_metrics` publishes the loads of queues and model servers for autoscaling; "" for nowhere.
CLOUDWATCH_NAMESPACE = env.text("AVA_CLOUDWATCH_NAMESPACE", "")

# --- seeing it (backend.observability) -------------------------------------------------------------------------------
# Where Prometheus asks each API, relay and worker: host:port, "" for nowhere. No customer may reach it.
METRICS_ADDRESS = env.address("AVA_METRICS_ADDRESS", "")
# Folder in which the processes of one API or worker add up their numbers. The client library reads the variable itself.
METRICS_FOLDER = env.text("PROMETHEUS_MULTIPROC_DIR", "")
if METRICS_FOLDER:
    Path(METRICS_FOLDER).mkdir(parents=True, exist_ok=True, mode=0o700)
# Traces go to <endpoint>/v1/traces; "" makes none. OpenTelemetry's other variables configure the rest.
OTLP_ENDPOINT = env.text("OTEL_EXPORTER_OTLP_ENDPOINT", "")
OTEL_SERVICE_NAME = env.text("OTEL_SERVICE_NAME", "")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "backend.observability.json_lines.JsonLines"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.text("AVA_LOG_LEVEL", "INFO")},
    "loggers": {
        "httpx": {"level": "WARNING"},
        "botocore": {"level": "WARNING"},
        # Otherwise it writes a line for each step and each page of a report.
        "weasyprint.progress": {"level": "WARNING"},
        # The API writes a line of its own for each request, without the query.
        "uvicorn": {"handlers": [], "propagate": True},
        "uvicorn.access": {"handlers": [], "level": "WARNING", "propagate": True},
        "django.server": {"handlers": [], "propagate": True},
    },
}

CONSOLE_URL = ""
if PROCESS == "console":
    # The console's own host name; customers' browsers never send its cookies, nor the console's theirs.
    CONSOLE_URL = env.text("AVA_CONSOLE_URL", "http://127.0.0.1:8001")
    globals().update(console_settings(CONSOLE_URL, MIDDLEWARE))
