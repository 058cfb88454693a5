-- The lab: machines that measure for this hub, and receipts on their way in.

CREATE TABLE machines (
    id                TEXT PRIMARY KEY,
    name              TEXT NOT NULL,
    public_key        TEXT NOT NULL,
    labels            TEXT NOT NULL DEFAULT '',
    facts             TEXT NOT NULL DEFAULT '{}',
    state             TEXT NOT NULL CHECK (state IN ('pending', 'active', 'draining', 'quarantined', 'maintenance')),
    reason            TEXT NOT NULL DEFAULT '',
    failed_checks     INTEGER NOT NULL DEFAULT 0,
    first_seen        TEXT NOT NULL,
    last_seen         TEXT NOT NULL,
    maintenance_until TEXT
);
CREATE INDEX machines_by_name ON machines (name);

-- Parts of a file that arrives in pieces, so that a cut connection goes on where it was.
CREATE TABLE upload_parts (
    sha256     TEXT NOT NULL,
    position   BIGINT NOT NULL,
    bytes      TEXT NOT NULL,
    arrived_ms BIGINT NOT NULL,
    PRIMARY KEY (sha256, position)
);
CREATE INDEX upload_parts_by_age ON upload_parts (arrived_ms);
