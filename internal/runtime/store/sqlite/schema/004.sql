-- From here on, records are in the log beside the database, in files that were written before this
-- migration. The database stores the log position up to which it is folded, and an index of the records.
CREATE TABLE place (
  one     INTEGER PRIMARY KEY CHECK (one = 1),
  id      TEXT NOT NULL,     -- ID of the database, which the log contains
  step    INTEGER NOT NULL,  -- last folded step
  hash    BLOB NOT NULL,     -- hash of that step
  segment INTEGER NOT NULL,  -- segment of that step, identified by the step before the segment
  offset  INTEGER NOT NULL   -- end of that step in the segment
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

-- The number up to which each chain's records are removed.
CREATE TABLE removed (
  writer  TEXT PRIMARY KEY,
  through INTEGER NOT NULL
) STRICT;
INSERT INTO removed
  SELECT w.name, min(r.seq) - 1 FROM writer w JOIN record r ON r.writer = w.id GROUP BY w.id HAVING min(r.seq) > 1;

-- The sealed segments of the log, and the records of each chain in them.
CREATE TABLE segment (
  after  INTEGER PRIMARY KEY, -- the step before the segment
  latest INTEGER NOT NULL     -- time of the latest record
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
