-- By how many microseconds the time of a record is before the latest time of those that
-- were committed before it: of clocks that differ, or that were set back. So time + late
-- never goes down, and the first record since some time is found without an index.
ALTER TABLE record ADD COLUMN late INTEGER NOT NULL DEFAULT 0;
UPDATE record SET late = known.latest - time
  FROM (SELECT id, max(time) OVER (ORDER BY id) AS latest FROM record) AS known
  WHERE known.id = record.id AND known.latest > record.time;
