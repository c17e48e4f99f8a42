# One image for the web server, the worker, the schedule and the commands; compose.yaml shows how they fit together.
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=config.settings.production \
    WEB_BIND=0.0.0.0:8000

# pg_dump and psql serve backup_database and restore_database.
RUN apt-get update \
    && apt-get install -y --no-install-recommends postgresql-client \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --create-home --uid 10001 fieldbook

WORKDIR /app
COPY requirements.txt ./
RUN pip install --no-cache-dir --require-hashes -r requirements.txt

COPY . ./
# The production settings refuse to start without secrets; these live for this one step only.
RUN SECRET_KEY="$(head -c 48 /dev/urandom | base64 -w0)" \
    API_KEY_PEPPER="$(head -c 48 /dev/urandom | base64 -w0)" \
    ALLOWED_HOSTS=localhost \
    python manage.py collectstatic --noinput \
    && mkdir -p var \
    && chown fieldbook var

USER fieldbook
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s CMD ["python", "bin/healthcheck"]
CMD ["gunicorn", "--reuse-port"]
