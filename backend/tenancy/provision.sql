-- Run by a superuser, once per database and again after every upgrade; each statement can be repeated.
-- Roles are cluster-wide and are made by the provision command, which sets their passwords.

CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS age;
SET search_path = public, ag_catalog;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO app_owner;
GRANT USAGE ON SCHEMA public TO app_rw, app_dispatch, app_admin_ro, app_people, app_console;

-- --- Apache AGE: one graph, topology only -------------------------------------------------------------------------
DO $provision$
DECLARE label text;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM ag_catalog.ag_graph WHERE name = 'ekg') THEN
        PERFORM ag_catalog.create_graph('ekg');
    END IF;
    FOREACH label IN ARRAY ARRAY['Event', 'Entity'] LOOP
        IF to_regclass(format('ekg.%I', label)) IS NULL THEN
            PERFORM ag_catalog.create_vlabel('ekg', label::cstring);
        END IF;
    END LOOP;
    FOREACH label IN ARRAY ARRAY['NEXT', 'PARTICIPATES_IN', 'RELATED_TO'] LOOP
        IF to_regclass(format('ekg.%I', label)) IS NULL THEN
            PERFORM ag_catalog.create_elabel('ekg', label::cstring);
        END IF;
    END LOOP;
END
$provision$;

GRANT USAGE ON SCHEMA ag_catalog, ekg TO app_rw, app_owner, app_admin_ro;
GRANT SELECT ON ag_catalog.ag_graph, ag_catalog.ag_label TO app_rw, app_owner, app_admin_ro;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ekg TO app_rw;
-- An export reads a tenant's graph, and an import makes it in the transaction of the rows; the policies hold for both.
GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA ekg TO app_owner;
GRANT SELECT ON ALL TABLES IN SCHEMA ekg TO app_admin_ro;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA ekg TO app_rw, app_owner;

-- Vertices are found by uid; whole versions of a video are dropped by the video property.
CREATE UNIQUE INDEX IF NOT EXISTS event_uid ON ekg."Event"
    (ag_catalog.agtype_access_operator(VARIADIC ARRAY[properties, '"uid"'::ag_catalog.agtype]));
CREATE UNIQUE INDEX IF NOT EXISTS entity_uid ON ekg."Entity"
    (ag_catalog.agtype_access_operator(VARIADIC ARRAY[properties, '"uid"'::ag_catalog.agtype]));

DO $provision$
DECLARE label text; predicate text; own text;
BEGIN
    own := '((properties OPERATOR(ag_catalog.->>) ''"tenant"''::ag_catalog.agtype) = '
           'nullif(current_setting(''app.tenant_id'', true), ''''))';
    -- The parents too: an unlabelled MATCH reads them past the policies of their children.
    FOREACH label IN ARRAY ARRAY['_ag_label_vertex', '_ag_label_edge', 'Event', 'Entity', 'NEXT', 'PARTICIPATES_IN', 'RELATED_TO']
    LOOP
        EXECUTE format('ALTER TABLE ekg.%I ENABLE ROW LEVEL SECURITY', label);
        EXECUTE format('ALTER TABLE ekg.%I FORCE ROW LEVEL SECURITY', label);
        IF NOT EXISTS (SELECT 1 FROM pg_policies WHERE schemaname = 'ekg' AND tablename = label AND policyname = 'tenant_rows') THEN
            EXECUTE format('CREATE POLICY tenant_rows ON ekg.%I USING %s WITH CHECK %s', label, own, own);
        END IF;
    END LOOP;
    FOREACH label IN ARRAY ARRAY['Event', 'Entity', 'NEXT', 'PARTICIPATES_IN', 'RELATED_TO'] LOOP
        EXECUTE format(
            'CREATE INDEX IF NOT EXISTS %I ON ekg.%I (ag_catalog.agtype_access_operator(VARIADIC ARRAY[properties, ''"video"''::ag_catalog.agtype]))',
            lower(label) || '_video', label);
    END LOOP;
    FOREACH label IN ARRAY ARRAY['NEXT', 'PARTICIPATES_IN', 'RELATED_TO'] LOOP
        EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON ekg.%I (start_id)', lower(label) || '_from', label);
        EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON ekg.%I (end_id)', lower(label) || '_to', label);
    END LOOP;
END
$provision$;

-- The provision command revokes every function of AGE that graph_routines.txt does not list.
DO $provision$
DECLARE routine regprocedure;
BEGIN
    -- Without this, row-level security keeps the planner from using the uid and edge indexes (docs/adr). They compare ids,
    -- read one property, or name a vertex by its id, which is how Cypher joins an edge with a vertex found before; they
    -- can raise on malformed input, which only app_rw itself could have written.
    FOR routine IN
        SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname = 'ag_catalog' AND p.proname IN (
            'agtype_access_operator', 'agtype_eq', '_agtype_build_vertex', '_label_name', 'age_id', 'agtype_to_graphid',
            'graphid_eq', 'graphid_lt', 'graphid_gt', 'graphid_le', 'graphid_ge')
    LOOP
        EXECUTE format('ALTER FUNCTION %s LEAKPROOF', routine);
    END LOOP;
END
$provision$;

-- UNWIND: a step follows a handful of ids. At the 1,000 that are assumed otherwise, whole labels are read and hashed.
ALTER FUNCTION ag_catalog.age_unnest(ag_catalog.agtype) ROWS 16;

ANALYZE ekg."Event", ekg."Entity";
