-- Lists of one machine's receipts of one verdict, and the label's own index: over a million receipts the engine would else
-- walk one index and look every row up.
CREATE INDEX receipts_by_machine_name_verdict ON receipts (machine_name, verdict, created_at, id);
CREATE INDEX receipts_by_machine_verdict ON receipts (machine_id, verdict, created_at, id);
