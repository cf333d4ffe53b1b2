package trail

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// A subject is what the object of a record says that its row has columns for.
type subject struct {
	audit.Process
	Session string       `json:"session"`
	Before  time.Time    `json:"before"` // of a removal, as what follows
	Records uint64       `json:"records"`
	Chains  []audit.Head `json:"chains"`
}

// columns compares the row of a record, by which it is found, with its object, which alone is
// on the chain. A record of no session is found for all of them. The time of the row is that of
// the commit: it may be later than that of the event, for hours where a disk was full.
func columns(r *backend.Record) (s subject, fault string) {
	if json.Unmarshal(r.Object, &s) != nil {
		return subject{}, ""
	}
	switch {
	case r.Session != "" && string([]rune(r.Session)) != s.Session: // JSON has no other bytes than those of text
		return s, fmt.Sprintf("its column session has %q, and the record itself %q: the column was changed", audit.Bounded(r.Session), audit.Bounded(s.Session))
	case s.Time.Sub(r.Time) > backend.Skew:
		return s, fmt.Sprintf("its column time has %s, before the %s of the record itself: the column was changed", stamp(r.Time), stamp(s.Time))
	}
	return s, ""
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// order verifies what a database keeps of the order of its records beside them, where it does.
// Where records are missing or times are wrong it says no more: it follows from them. All records
// from since on are still there.
func (d Database) order(ctx context.Context, r *Report, since time.Time) error {
	db, ok := d.Backend.(interface {
		Misplaced(ctx context.Context, since time.Time) (*backend.Record, error)
	})
	if !ok || !r.OK() {
		return nil
	}
	record, err := db.Misplaced(ctx, since)
	if err != nil || record == nil {
		return err
	}
	r.Faults = append(r.Faults, Fault{Writer: record.Writer, Seq: record.Seq, What: "its column late does not follow from the times of the records before it: a column was changed, or a record was removed"})
	return nil
}
