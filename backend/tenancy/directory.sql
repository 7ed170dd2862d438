-- The control database: which tenant lives in which cell. Run by a superuser; each statement can be repeated.
-- It holds names and ids, and neither secrets nor customers' data.

CREATE SCHEMA IF NOT EXISTS directory;

CREATE TABLE IF NOT EXISTS directory.cell (
    name text PRIMARY KEY CHECK (name ~ '^[a-z][a-z0-9-]{0,62}$'),
    api_url text NOT NULL,
    -- Whether new tenants may be created in the cell.
    accepts boolean NOT NULL DEFAULT true
);
CREATE TABLE IF NOT EXISTS directory.place (
    tenant_id uuid PRIMARY KEY,
    slug text NOT NULL UNIQUE,
    cell text NOT NULL REFERENCES directory.cell,
    moving boolean NOT NULL DEFAULT false
);
CREATE TABLE IF NOT EXISTS directory.key (
    public_id text PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES directory.place ON DELETE CASCADE
);
-- A move that has not ended, or the tenant's last one.
CREATE TABLE IF NOT EXISTS directory.move (
    tenant_id uuid PRIMARY KEY REFERENCES directory.place ON DELETE CASCADE,
    source text NOT NULL REFERENCES directory.cell,
    target text NOT NULL REFERENCES directory.cell CHECK (target <> source),
    phase text NOT NULL,
    counts jsonb NOT NULL DEFAULT '{}',
    began_at timestamptz NOT NULL DEFAULT now(),
    switched_at timestamptz,
    ended_at timestamptz
);

GRANT USAGE ON SCHEMA directory TO app_directory, app_mover;
GRANT SELECT ON ALL TABLES IN SCHEMA directory TO app_directory, app_mover;
GRANT INSERT ON directory.place TO app_directory;
GRANT INSERT ON directory.key TO app_directory;
GRANT INSERT, UPDATE, DELETE ON directory.cell, directory.place, directory.move TO app_mover;
GRANT INSERT ON directory.key TO app_mover;
