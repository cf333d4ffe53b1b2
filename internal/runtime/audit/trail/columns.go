package trail

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
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

// damage verifies what a database keeps beside its records, where it can.
func (d Database) damage(ctx context.Context, r *Report) error {
	db, ok := d.Backend.(interface {
		Damage(ctx context.Context) (file, what string, err error)
	})
	if !ok {
		return nil
	}
	file, what, err := db.Damage(ctx)
	if err == nil && what != "" {
		r.Faults = append(r.Faults, Fault{File: file, What: what})
	}
	return err
}
