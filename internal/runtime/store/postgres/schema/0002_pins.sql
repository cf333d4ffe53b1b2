-- What servers say of their tools, as it was accepted. Who writes here holds the lock of
-- petrigate_pin_turn until the commit, so that numbers are in the order of commits: who has
-- read up to a number misses nothing by reading what is above it.
CREATE TABLE petrigate_pin (
	server     bytea NOT NULL,
	tool       bytea NOT NULL,
	number     bigint GENERATED ALWAYS AS IDENTITY UNIQUE, -- of the last change of the row
	definition bytea NOT NULL,
	since      timestamptz NOT NULL,
	actor      bytea NOT NULL,
	PRIMARY KEY (server, tool)
);

-- petrigate_pin_turn waits until nobody else writes pins. A pin is on the disk when it is
-- committed: after a crash no other definition may be the first that is seen.
CREATE FUNCTION petrigate_pin_turn() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock(8098989879002923008 + 'petrigate_pin'::regclass::oid::bigint);
	IF current_setting('synchronous_commit') IN ('off', 'local') THEN
		PERFORM set_config('synchronous_commit', 'on', true);
	END IF;
END $$;
