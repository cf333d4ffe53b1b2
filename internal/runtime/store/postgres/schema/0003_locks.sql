-- Any role that can connect to the database can acquire any advisory lock and keep it. So locks of
-- petrigate's own tables, which require a privilege, order decisions, stops and pins.
--
-- They are table locks, because a stop that waits for a row lock would be overtaken by commits that
-- share the lock as long as some are in progress. Requests for a table lock are served in order.
-- Reading petrigate_stop, as pg_dump does, conflicts with none of these locks.

CREATE OR REPLACE FUNCTION petrigate_pin_turn() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	LOCK TABLE petrigate_pin IN SHARE ROW EXCLUSIVE MODE;
	IF current_setting('synchronous_commit') IN ('off', 'local') THEN
		PERFORM set_config('synchronous_commit', 'on', true);
	END IF;
END $$;

-- petrigate_commit implements backend.Commit and backend.SetStop. DB.Commit in commit.go explains the locks.
CREATE OR REPLACE FUNCTION petrigate_commit(
	p_writer bigint, p_fence bigint, p_turn bigint, p_mark text, p_flush boolean,
	-- The batch's parts in order, without duplicates; the positions of those that may have to be inserted.
	p_scopes text[], p_names bytea[], p_new int[],
	p_ends int[], p_shared boolean[], -- ends of runs of parts that are all only read or all written
	-- The ops, with the positions of their last writes and events.
	p_sessions bytea[], p_reserve boolean[], p_uses bytea[], p_times timestamptz[], p_writes int[], p_events int[],
	p_write_part int[], p_write_version bigint[], p_write_read boolean[], p_write_data bytea[],
	p_value_write int[], p_value_key bytea[], p_value_data bytea[],
	p_event_time timestamptz[], p_event_session bytea[], p_event_object bytea[],
	-- The use of the kill switch; null: none.
	p_stop boolean, p_stop_session bytea, p_stop_actor bytea, p_stop_reason bytea, p_stop_time timestamptz,
	OUT o_state text, OUT o_codes int[], OUT o_newest timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
	v_mark    text;
	v_stops   bytea[];
	v_fence   bigint;
	v_turn    bigint;
	v_seq     bigint;
	v_hash    bytea;
	v_row     record;
	v_ids     bigint[] := array_fill(0::bigint, ARRAY[cardinality(p_scopes)]);
	v_cur     bigint[] := array_fill(0::bigint, ARRAY[cardinality(p_scopes)]); -- current version
	v_bad     boolean[] := array_fill(false, ARRAY[cardinality(p_scopes)]); -- an op on the part was refused
	v_last    int[] := array_fill(0, ARRAY[cardinality(p_scopes)]); -- last write
	v_removed int[] := array_fill(0, ARRAY[cardinality(p_scopes)]); -- last write that removed the part
	v_op      int[] := array_fill(0, ARRAY[cardinality(p_write_part)]); -- op of each write
	v_events  int[] := '{}';
	v_seqs    bigint[] := '{}';
	v_hashes  bytea[] := '{}';
	v_synced  boolean := p_stop IS NOT NULL;
	v_code    int;
	v_w       int := 0;
	v_e       int := 0;
	v_newest  timestamptz; -- time of the newest record
	s         int := 0;
BEGIN
	IF current_setting('transaction_isolation') <> 'read committed' THEN
		RAISE EXCEPTION 'petrigate_commit needs the isolation level read committed';
	END IF;

	-- 1. A stop waits for current commits, and later commits wait for the stop.
	IF p_stop IS NOT NULL THEN
		LOCK TABLE petrigate_stop IN EXCLUSIVE MODE;
	ELSIF true = ANY (p_reserve) THEN
		LOCK TABLE petrigate_stop IN ROW SHARE MODE;
	END IF;
	SELECT (SELECT m.mark || '.' || m.tableoid FROM petrigate_mark m), (SELECT array_agg(session) FROM petrigate_stop)
		INTO v_mark, v_stops;
	IF v_mark IS DISTINCT FROM p_mark THEN
		o_state := 'mark';
		RETURN;
	END IF;

	-- 2. The writer, which no other process needs.
	SELECT fence, turn, seq, hash INTO v_fence, v_turn, v_seq, v_hash
		FROM petrigate_writer WHERE no = p_writer FOR UPDATE;
	IF NOT FOUND OR v_fence <> p_fence OR v_turn <> p_turn THEN
		o_state := 'turn';
		RETURN;
	END IF;

	-- 3. Approvals, 4. new parts, 5. existing parts, each in order.
	IF cardinality(array_remove(p_uses, NULL)) > 0 THEN
		PERFORM 1 FROM petrigate_approval WHERE id = ANY (p_uses) ORDER BY id FOR UPDATE;
	END IF;
	IF cardinality(p_new) > 0 THEN
		INSERT INTO petrigate_part (scope, name, version, changed)
			SELECT p_scopes[n], p_names[n], 0, now() FROM unnest(p_new) AS n ORDER BY n
			ON CONFLICT (scope, name) DO NOTHING;
	END IF;
	FOR r IN 1 .. cardinality(p_ends) LOOP
		IF p_shared[r] THEN
			FOR v_row IN
				SELECT s + a.n AS slot, p.id, p.version
				FROM unnest(p_scopes[s + 1 : p_ends[r]], p_names[s + 1 : p_ends[r]]) WITH ORDINALITY AS a (scope, name, n)
				JOIN petrigate_part p ON p.scope = a.scope AND p.name = a.name
				ORDER BY p.scope, p.name FOR SHARE OF p
			LOOP
				v_ids[v_row.slot] := v_row.id;
				v_cur[v_row.slot] := v_row.version;
			END LOOP;
		ELSE
			FOR v_row IN
				SELECT s + a.n AS slot, p.id, p.version
				FROM unnest(p_scopes[s + 1 : p_ends[r]], p_names[s + 1 : p_ends[r]]) WITH ORDINALITY AS a (scope, name, n)
				JOIN petrigate_part p ON p.scope = a.scope AND p.name = a.name
				ORDER BY p.scope, p.name FOR UPDATE OF p
			LOOP
				v_ids[v_row.slot] := v_row.id;
				v_cur[v_row.slot] := v_row.version;
			END LOOP;
		END IF;
		s := p_ends[r];
	END LOOP;

	IF true = ANY (p_reserve) THEN
		SELECT coalesce((SELECT max(r.time) FROM petrigate_record r WHERE r.time > c.ahead),
			(SELECT max(r.time) FROM petrigate_record r WHERE r.time <= c.told)) INTO v_newest FROM petrigate_change c;
	END IF;

	-- Apply each op after the previous ops.
	FOR i IN 1 .. cardinality(p_times) LOOP
		v_code := 0;
		IF p_reserve[i] AND v_stops IS NOT NULL AND (p_sessions[i] = ANY (v_stops) OR ''::bytea = ANY (v_stops)) THEN
			v_code := 3;
		ELSIF p_reserve[i] AND v_newest > p_times[i] + interval '1 minute' THEN
			v_code := 4;
			o_newest := v_newest;
		END IF;
		FOR j IN v_w + 1 .. p_writes[i] LOOP
			s := p_write_part[j];
			IF v_code = 0 AND (v_ids[s] = 0 OR v_bad[s] AND v_last[s] = 0 AND v_removed[s] = 0 OR v_cur[s] <> p_write_version[j]) THEN
				v_code := 1;
			END IF;
		END LOOP;
		IF v_code = 0 AND p_uses[i] IS NOT NULL THEN
			UPDATE petrigate_approval SET state = 'consumed', version = version + 1, changed = now()
				WHERE id = p_uses[i] AND state = 'approved' AND expires > coalesce(p_times[i], now());
			IF NOT FOUND THEN
				v_code := 2;
			END IF;
		END IF;

		FOR j IN v_w + 1 .. p_writes[i] LOOP
			s := p_write_part[j];
			IF p_write_read[j] THEN
				CONTINUE;
			ELSIF v_code <> 0 THEN
				v_bad[s] := true;
			ELSIF p_write_data[j] IS NULL THEN
				v_cur[s] := 0;
				v_last[s] := 0;
				v_removed[s] := j;
			ELSE
				v_cur[s] := v_cur[s] + 1;
				v_last[s] := j;
				v_op[j] := i;
			END IF;
		END LOOP;
		IF v_code = 0 THEN
			v_synced := v_synced OR p_reserve[i];
			FOR j IN v_e + 1 .. p_events[i] LOOP
				v_seq := v_seq + 1;
				v_hash := sha256(v_hash || convert_to(v_seq::text, 'UTF8') || p_event_object[j]);
				v_newest := greatest(v_newest, p_event_time[j]);
				v_events := array_append(v_events, j);
				v_seqs := array_append(v_seqs, v_seq);
				v_hashes := array_append(v_hashes, v_hash);
			END LOOP;
		END IF;
		v_w := p_writes[i];
		v_e := p_events[i];
		o_codes := array_append(o_codes, v_code);
	END LOOP;

	-- Write the results.
	IF cardinality(p_scopes) > 0 THEN
		UPDATE petrigate_part p SET version = v_cur[n], data = p_write_data[v_last[n]], changed = coalesce(p_times[v_op[v_last[n]]], now())
			FROM generate_subscripts(v_last, 1) AS n WHERE v_last[n] > 0 AND p.id = v_ids[n];
		IF 0 <> ANY (v_removed) THEN
			DELETE FROM petrigate_value v USING generate_subscripts(v_removed, 1) AS n
				WHERE v_removed[n] > 0 AND v.part = v_ids[n];
		END IF;
		IF 0 = ANY (v_cur) THEN
			DELETE FROM petrigate_part p USING generate_subscripts(v_cur, 1) AS n
				WHERE v_cur[n] = 0 AND p.id = v_ids[n];
		END IF;
	END IF;
	IF cardinality(p_value_write) > 0 THEN
		WITH last AS (
			SELECT DISTINCT ON (v_ids[p_write_part[w]], p_value_key[n]) v_ids[p_write_part[w]] AS part, p_value_key[n] AS key, p_value_data[n] AS data
			FROM unnest(p_value_write) WITH ORDINALITY AS a (w, n)
			WHERE v_op[w] > 0 AND w > v_removed[p_write_part[w]]
			ORDER BY 1, 2, n DESC
		), gone AS (
			DELETE FROM petrigate_value v USING last l WHERE l.data IS NULL AND v.part = l.part AND v.key = l.key
		)
		INSERT INTO petrigate_value (part, key, data) SELECT part, key, data FROM last WHERE data IS NOT NULL
			ON CONFLICT (part, key) DO UPDATE SET data = excluded.data;
	END IF;
	IF cardinality(v_events) > 0 THEN
		INSERT INTO petrigate_record (writer, seq, time, session, object, hash)
			SELECT p_writer, v_seqs[n], p_event_time[e], p_event_session[e], p_event_object[e], v_hashes[n]
			FROM unnest(v_events) WITH ORDINALITY AS a (e, n);
	END IF;
	IF p_stop THEN
		INSERT INTO petrigate_stop VALUES (p_stop_session, p_stop_actor, p_stop_reason, p_stop_time)
			ON CONFLICT (session) DO UPDATE SET actor = excluded.actor, reason = excluded.reason, time = excluded.time;
	ELSIF NOT p_stop THEN
		DELETE FROM petrigate_stop WHERE session = p_stop_session;
	END IF;
	IF p_stop IS NOT NULL THEN
		UPDATE petrigate_change SET n = n + 1, told = p_stop_time,
			ahead = greatest(p_stop_time, (SELECT max(time) FROM petrigate_record));
	END IF;
	UPDATE petrigate_writer SET turn = turn + 1, codes = coalesce(o_codes, '{}'), seq = v_seq, hash = v_hash, seen = now()
		WHERE no = p_writer;

	IF NOT (v_synced AND p_flush) THEN
		PERFORM set_config('synchronous_commit', 'off', true);
	ELSIF current_setting('synchronous_commit') IN ('off', 'local') THEN
		PERFORM set_config('synchronous_commit', 'on', true);
	END IF;
	o_state := CASE WHEN v_synced AND p_flush THEN 'flushed' ELSE 'done' END;
END $$;
