-- The number of microseconds by which a record's time is before the latest time of the earlier
-- records, because clocks differ or were set back. So time + late never decreases, and the first
-- record since a given time is found without an index.
ALTER TABLE record ADD COLUMN late INTEGER NOT NULL DEFAULT 0;
UPDATE record SET late = known.latest - time
  FROM (SELECT id, max(time) OVER (ORDER BY id) AS latest FROM record) AS known
  WHERE known.id = record.id AND known.latest > record.time;
