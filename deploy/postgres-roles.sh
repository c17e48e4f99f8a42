#!/usr/bin/env bash
# Run once, by the database container, when its volume is empty; for a server of your own, run it by hand with
# POSTGRES_USER (owner of the tables), POSTGRES_DB and APP_DB_PASSWORD set. The application's role reads and writes
# rows; it owns nothing, so it can neither drop a table nor switch off the triggers that keep receipts as they are.
set -euo pipefail

psql --set ON_ERROR_STOP=1 --no-psqlrc --quiet --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
    --set password="$APP_DB_PASSWORD" --set database="$POSTGRES_DB" <<'SQL'
CREATE ROLE fieldbook_app LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'password';
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO fieldbook_app;
GRANT USAGE ON SCHEMA public TO fieldbook_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO fieldbook_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO fieldbook_app;
SQL
