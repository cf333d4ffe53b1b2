package trail

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// A rowSubject holds the members of a record that are repeated in the columns of its row.
type rowSubject struct {
	audit.Process
	Session string       `json:"session"`
	Before  time.Time    `json:"before"` // this and the following fields are set only for removal events
	Records uint64       `json:"records"`
	Chains  []audit.Head `json:"chains"`
}

// checkColumns compares a row's columns with the record. Queries use the columns to find the
// record, but only the record is part of the chain. An empty session column is accepted, because
// queries for a session also find rows without a session. A time column later than the event is
// accepted too: it contains the time of the commit, which is delayed while the disk is full.
func checkColumns(r *backend.Record) (s rowSubject, fault string) {
	if json.Unmarshal(r.Object, &s) != nil {
		return rowSubject{}, ""
	}
	switch {
	case r.Session != "" && string([]rune(r.Session)) != s.Session: // convert the column to valid UTF-8, because the JSON of the record is valid UTF-8
		return s, fmt.Sprintf("its session column is %q, but the record has %q: the column was changed", audit.Bounded(r.Session), audit.Bounded(s.Session))
	case s.Time.Sub(r.Time) > backend.Skew:
		return s, fmt.Sprintf("its time column is %s, before the record's %s: the column was changed", stamp(r.Time), stamp(s.Time))
	}
	return s, ""
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// checkDamage adds to the report any damage that the database detects by itself.
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
