package sqlite

// Seal adds sealed segments to the index and deletes removed segments from the index.
func (c *Checkpoint) Seal(sealed []Segment, removed []uint64) error {
	return c.write("noting log segments in the state database", func(l *link) error {
		for _, after := range removed {
			if err := deleteSegment(l, after); err != nil {
				return err
			}
		}
		return insertSegments(l, sealed)
	})
}

// Remove marks the records of a chain up to the given number as removed. If whole is true, the
// chain has no later records, and [Reading.Heads] no longer returns it.
func (c *Checkpoint) Remove(writer string, through uint64, whole bool) error {
	return c.write("removing old records", func(l *link) error {
		err := l.exec("INSERT INTO removed (writer, through) VALUES (?, ?) ON CONFLICT DO UPDATE SET through = max(through, excluded.through)", writer, int64(through))
		if err == nil && whole {
			err = l.exec("DELETE FROM head WHERE writer = ? AND seq <= ?", writer, int64(through))
		}
		return err
	})
}
