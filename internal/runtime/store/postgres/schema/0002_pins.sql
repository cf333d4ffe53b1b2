-- The accepted tool definitions of servers. A transaction that writes holds the lock of
-- petrigate_pin_turn until it commits, so that numbers have the order of commits: a process that has
-- read up to a number misses nothing by reading the greater numbers.
CREATE TABLE petrigate_pin (
	server     bytea NOT NULL,
	tool       bytea NOT NULL,
	number     bigint GENERATED ALWAYS AS IDENTITY UNIQUE, -- of the row's last change
	definition bytea NOT NULL,
	since      timestamptz NOT NULL,
	actor      bytea NOT NULL,
	PRIMARY KEY (server, tool)
);

-- petrigate_pin_turn waits until no other transaction writes pins. A pin is on the disk when it is
-- committed: after a crash, no other definition must become the first one seen.
CREATE FUNCTION petrigate_pin_turn() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock(8098989879002923008 + 'petrigate_pin'::regclass::oid::bigint);
	IF current_setting('synchronous_commit') IN ('off', 'local') THEN
		PERFORM set_config('synchronous_commit', 'on', true);
	END IF;
END $$;
