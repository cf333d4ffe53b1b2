package sqlite

import (
	"iter"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Segment is a sealed file of the log. It contains only records, and changes only when records are
// removed.
type Segment struct {
	After  uint64           // the last step before the segment
	Latest time.Time        // time of the latest record
	Chains map[string]Range // record numbers in the segment, keyed by the chain's writer
}

// Range is an inclusive range of record numbers in a chain.
type Range struct{ First, Last uint64 }

// An Export writes the records of a database with an older schema to segments of the log. The older
// schema stored these records in a table. After a crash, an Export may be called again for the same
// records.
type Export func(total int64, records iter.Seq2[backend.Record, error]) ([]Segment, error)

func deleteSegment(l *link, after uint64) error {
	err := l.exec("DELETE FROM segment_chain WHERE after = ?", int64(after))
	if err == nil {
		err = l.exec("DELETE FROM segment WHERE after = ?", int64(after))
	}
	return err
}

func insertSegments(l *link, segments []Segment) error {
	for i := range segments {
		s := &segments[i]
		if err := deleteSegment(l, s.After); err != nil {
			return err
		}
		if err := l.exec("INSERT INTO segment (after, latest) VALUES (?, ?)", int64(s.After), s.Latest.UnixMicro()); err != nil {
			return err
		}
		for writer, r := range s.Chains {
			if err := l.exec("INSERT INTO segment_chain (after, writer, first, last) VALUES (?, ?, ?, ?)", int64(s.After), writer, int64(r.First), int64(r.Last)); err != nil {
				return err
			}
		}
	}
	return nil
}
