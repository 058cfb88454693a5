-- Runs and receipts. Both engines read this text; lines that begin with "--postgresql" are PostgreSQL's alone.
-- Times are RFC 3339 texts in UTC of one width, so that text order is time order; leases are UTC milliseconds.

CREATE TABLE runs (
    id               TEXT PRIMARY KEY,
    state            TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled', 'interrupted')),
    phase            TEXT NOT NULL DEFAULT '',
    request          TEXT NOT NULL,
    label            TEXT,
    created_at       TEXT NOT NULL,
    started_at       TEXT,
    ended_at         TEXT,
    receipt_id       TEXT,
    error            TEXT,
    idempotency_key  TEXT UNIQUE,
    machine_id       TEXT,
    schedule_id      TEXT,
    required_labels  TEXT NOT NULL DEFAULT '',
    fencing_token    BIGINT NOT NULL DEFAULT 0,
    attempt          INTEGER NOT NULL DEFAULT 1,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    lease_until_ms   BIGINT NOT NULL DEFAULT 0
);
--postgresql ALTER TABLE runs ALTER COLUMN id TYPE TEXT COLLATE "C", ALTER COLUMN created_at TYPE TEXT COLLATE "C";

-- The queue is read oldest first; ended runs are not in it.
CREATE INDEX runs_queued ON runs (id) WHERE state = 'queued';
CREATE INDEX runs_running ON runs (machine_id, lease_until_ms) WHERE state = 'running';
CREATE INDEX runs_by_state ON runs (state, created_at, id);
CREATE INDEX runs_by_label ON runs (label, created_at, id);
CREATE INDEX runs_by_time ON runs (created_at, id);

-- One row a label that a machine must have to take the run.
CREATE TABLE run_labels (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    label  TEXT NOT NULL,
    PRIMARY KEY (run_id, label)
);
--postgresql ALTER TABLE run_labels ALTER COLUMN run_id TYPE TEXT COLLATE "C";

-- What lists need of a receipt; the signed file stands apart so that a list reads little.
CREATE TABLE receipts (
    id              TEXT PRIMARY KEY,
    run_id          TEXT NOT NULL,
    machine_id      TEXT NOT NULL,
    machine_name    TEXT NOT NULL,
    created_at      TEXT NOT NULL,
    preset          TEXT NOT NULL,
    arm_a           TEXT NOT NULL,
    arm_b           TEXT NOT NULL,
    verdict         TEXT NOT NULL,
    evidence        TEXT NOT NULL,
    policy          TEXT NOT NULL,
    speedup         DOUBLE PRECISION,
    interval_low    DOUBLE PRECISION,
    interval_high   DOUBLE PRECISION,
    a_median_ms     DOUBLE PRECISION,
    b_median_ms     DOUBLE PRECISION,
    max_loss_drift  DOUBLE PRECISION,
    flops_per_step  DOUBLE PRECISION,
    repeat_spread_a DOUBLE PRECISION,
    repeat_spread_b DOUBLE PRECISION,
    label           TEXT,
    precision_rule  TEXT,
    browser         TEXT,
    adapter         TEXT,
    first_reason    TEXT,
    file_sha256     TEXT NOT NULL,
    chain_sequence  BIGINT NOT NULL
);
--postgresql ALTER TABLE receipts ALTER COLUMN id TYPE TEXT COLLATE "C", ALTER COLUMN created_at TYPE TEXT COLLATE "C";

CREATE INDEX receipts_by_time ON receipts (created_at, id);
CREATE INDEX receipts_by_machine ON receipts (machine_id, created_at, id);
CREATE INDEX receipts_by_machine_name ON receipts (machine_name, created_at, id);
CREATE INDEX receipts_by_preset ON receipts (preset, created_at, id);
CREATE INDEX receipts_by_verdict ON receipts (verdict, created_at, id);
CREATE INDEX receipts_by_evidence ON receipts (evidence, created_at, id);
CREATE INDEX receipts_by_label ON receipts (label, created_at, id);
CREATE INDEX receipts_by_arms ON receipts (arm_a, arm_b, created_at, id);
CREATE INDEX receipts_by_chain ON receipts (machine_id, chain_sequence);
CREATE INDEX receipts_by_run ON receipts (run_id);

CREATE TABLE receipt_files (
    receipt_id TEXT PRIMARY KEY REFERENCES receipts (id) ON DELETE CASCADE,
    bytes      TEXT NOT NULL
);
--postgresql ALTER TABLE receipt_files ALTER COLUMN receipt_id TYPE TEXT COLLATE "C";
