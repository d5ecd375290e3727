-- The tables of MLflow's database that `ingest.mlflow_db` reads, and what was fetched.
CREATE TABLE IF NOT EXISTS experiments (experiment_id INTEGER PRIMARY KEY, name TEXT, lifecycle_stage TEXT);
CREATE TABLE IF NOT EXISTS runs (
    run_uuid TEXT NOT NULL PRIMARY KEY, name TEXT, user_id TEXT, status TEXT,
    start_time INTEGER, end_time INTEGER, lifecycle_stage TEXT, experiment_id INTEGER);
CREATE TABLE IF NOT EXISTS metrics (
    key TEXT NOT NULL, value REAL NOT NULL, timestamp INTEGER NOT NULL, run_uuid TEXT NOT NULL,
    step INTEGER NOT NULL, is_nan INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS metrics_of_run ON metrics (run_uuid);
CREATE TABLE IF NOT EXISTS params (key TEXT NOT NULL, value TEXT, run_uuid TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS params_of_run ON params (run_uuid);
CREATE TABLE IF NOT EXISTS tags (key TEXT NOT NULL, value TEXT, run_uuid TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS tags_of_run ON tags (run_uuid);
CREATE TABLE IF NOT EXISTS trace_info (
    request_id TEXT NOT NULL PRIMARY KEY, experiment_id INTEGER, timestamp_ms INTEGER);
CREATE TABLE IF NOT EXISTS trace_tags (request_id TEXT NOT NULL, key TEXT NOT NULL, value TEXT);
CREATE INDEX IF NOT EXISTS tags_of_trace ON trace_tags (request_id);
CREATE TABLE IF NOT EXISTS trace_request_metadata (request_id TEXT NOT NULL, key TEXT NOT NULL, value TEXT);
CREATE INDEX IF NOT EXISTS metadata_of_trace ON trace_request_metadata (request_id);
-- id of a run or trace -> hash of what the server's list said of it, and whether that was the last word
CREATE TABLE IF NOT EXISTS fetched (id TEXT NOT NULL PRIMARY KEY, seen TEXT NOT NULL, final INTEGER NOT NULL);
CREATE TEMPORARY TABLE incoming (key TEXT, value REAL, timestamp INTEGER, step INTEGER, is_nan INTEGER);
