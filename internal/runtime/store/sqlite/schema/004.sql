-- Records are in the log beside the database from here on, in files that were written before this:
-- the database has how far the log is folded into it, and where its records are.
CREATE TABLE place (
  one     INTEGER PRIMARY KEY CHECK (one = 1),
  id      TEXT NOT NULL,     -- of the database, which its log names
  step    INTEGER NOT NULL,  -- the last step that is folded in
  hash    BLOB NOT NULL,     -- its hash
  segment INTEGER NOT NULL,  -- the segment that it is in, by the step that this one begins after
  offset  INTEGER NOT NULL   -- where it ends there
) STRICT;

-- The last record of each chain.
CREATE TABLE head (
  writer  TEXT PRIMARY KEY,
  seq     INTEGER NOT NULL,
  hash    BLOB NOT NULL,
  time    INTEGER NOT NULL,
  session TEXT NOT NULL,
  object  TEXT NOT NULL
) STRICT;
INSERT INTO head
  SELECT w.name, r.seq, r.hash, r.time, r.session, r.object FROM writer w JOIN record r ON r.writer = w.id
  WHERE r.seq = (SELECT max(seq) FROM record WHERE writer = w.id);

-- Up to which number the records of a chain are removed.
CREATE TABLE removed (
  writer  TEXT PRIMARY KEY,
  through INTEGER NOT NULL
) STRICT;
INSERT INTO removed
  SELECT w.name, min(r.seq) - 1 FROM writer w JOIN record r ON r.writer = w.id GROUP BY w.id HAVING min(r.seq) > 1;

-- The segments of the log that are sealed, and which records of which chains they have.
CREATE TABLE segment (
  after  INTEGER PRIMARY KEY, -- the step that it begins after
  latest INTEGER NOT NULL     -- time of its latest record
) STRICT;
CREATE TABLE segment_chain (
  after  INTEGER NOT NULL,
  writer TEXT NOT NULL,
  first  INTEGER NOT NULL,
  last   INTEGER NOT NULL,
  PRIMARY KEY (after, writer)
) STRICT, WITHOUT ROWID;

INSERT INTO counter SELECT 'latest', time + late FROM record ORDER BY id DESC LIMIT 1;
DROP TABLE record;
DROP TABLE writer;
