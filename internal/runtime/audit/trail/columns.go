package trail

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// A rowSubject holds those members of a record's JSON object that are repeated in the columns of
// the record's row.
type rowSubject struct {
	audit.Process
	Session string       `json:"session"`
	Before  time.Time    `json:"before"` // set only for removal events, as are the fields below
	Records uint64       `json:"records"`
	Chains  []audit.Head `json:"chains"`
}

// checkColumns compares a row's columns, which are used to find the record, with the record's
// object, because only the object is part of the chain. A record without a session in its row
// belongs to all sessions. The row's time is the commit time, which may be hours after the event if
// a disk was full.
func checkColumns(r *backend.Record) (s rowSubject, fault string) {
	if json.Unmarshal(r.Object, &s) != nil {
		return rowSubject{}, ""
	}
	switch {
	case r.Session != "" && string([]rune(r.Session)) != s.Session: // JSON contains only valid UTF-8, so the column is converted for the comparison
		return s, fmt.Sprintf("its session column is %q, but the record has %q: the column was changed", audit.Bounded(r.Session), audit.Bounded(s.Session))
	case s.Time.Sub(r.Time) > backend.Skew:
		return s, fmt.Sprintf("its time column is %s, before the record's %s: the column was changed", stamp(r.Time), stamp(s.Time))
	}
	return s, ""
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// checkDamage verifies a database's other data if the database driver can do so.
func (d Database) checkDamage(ctx context.Context, r *Report) error {
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
