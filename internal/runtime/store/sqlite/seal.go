package sqlite

import "fmt"

// Seal adds sealed segments to the index and deletes removed segments from the index.
func (c *Checkpoint) Seal(sealed []Segment, removed []uint64) error {
	err := c.writer.transact(func(l *link) error {
		for _, after := range removed {
			if err := deleteSegment(l, after); err != nil {
				return err
			}
		}
		return insertSegments(l, sealed)
	})
	if err != nil {
		return fmt.Errorf("noting log segments in the state database: %w", err)
	}
	return nil
}

// Remove marks a chain's records up to the given number as removed. If whole is true, the chain
// ends there, and Remove deletes its last record too.
func (c *Checkpoint) Remove(writer string, through uint64, whole bool) error {
	err := c.writer.transact(func(l *link) error {
		_, err := l.exec("INSERT INTO removed (writer, through) VALUES (?, ?) ON CONFLICT DO UPDATE SET through = max(through, excluded.through)", writer, int64(through))
		if err == nil && whole {
			_, err = l.exec("DELETE FROM head WHERE writer = ? AND seq <= ?", writer, int64(through))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("removing old records: %w", err)
	}
	return nil
}
