-- The rows of part grow with the number of rules. In a table without row IDs, each row overflowed its
-- page, and a commit wrote six pages where three suffice.
CREATE TABLE part_by_rowid (
  scope   TEXT NOT NULL,
  name    TEXT NOT NULL,
  version INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  data    TEXT NOT NULL,
  PRIMARY KEY (scope, name)
) STRICT;
INSERT INTO part_by_rowid SELECT scope, name, version, changed, data FROM part;
DROP TABLE part;
ALTER TABLE part_by_rowid RENAME TO part;
