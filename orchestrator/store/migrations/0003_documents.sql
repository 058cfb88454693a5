-- Small documents by kind and id: schedules, undelivered notices.
CREATE TABLE documents (
    kind TEXT NOT NULL,
    id   TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (kind, id)
);
--postgresql ALTER TABLE documents ALTER COLUMN kind TYPE TEXT COLLATE "C", ALTER COLUMN id TYPE TEXT COLLATE "C";
