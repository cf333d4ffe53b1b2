CREATE TABLE part (
  scope   TEXT NOT NULL,
  name    TEXT NOT NULL,
  version INTEGER NOT NULL,
  changed INTEGER NOT NULL, -- in microseconds since 1970, like all times
  data    TEXT NOT NULL,
  PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE part_value (
  scope TEXT NOT NULL,
  name  TEXT NOT NULL,
  key   TEXT NOT NULL,
  data  TEXT NOT NULL,
  PRIMARY KEY (scope, name, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE writer (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- In the order of commits.
CREATE TABLE record (
  id      INTEGER PRIMARY KEY,
  writer  INTEGER NOT NULL REFERENCES writer(id),
  seq     INTEGER NOT NULL,
  hash    BLOB NOT NULL,
  time    INTEGER NOT NULL,
  session TEXT NOT NULL,
  object  TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX record_chain ON record (writer, seq);

CREATE TABLE approval (
  id      TEXT PRIMARY KEY,
  key     TEXT NOT NULL,
  state   TEXT NOT NULL,
  session TEXT NOT NULL,
  version INTEGER NOT NULL,
  created INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  ended   INTEGER, -- null: the approval is live
  data    TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX approval_live ON approval (key) WHERE ended IS NULL;
CREATE INDEX approval_key ON approval (key);

CREATE TABLE stop (
  session TEXT PRIMARY KEY, -- empty: all sessions
  actor   TEXT NOT NULL,
  reason  TEXT NOT NULL,
  time    INTEGER NOT NULL
) STRICT;

-- attention counts changes of approvals and stops; witnessed counts flushes of all data.
CREATE TABLE counter (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counter VALUES ('attention', 0), ('witnessed', 0);
