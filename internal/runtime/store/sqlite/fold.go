package sqlite

import (
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// Clock holds times from the records, in microseconds since 1970. It determines the newest reliable
// time; see [Clock.Newest]. If the clock of a process was ahead, the times of its records would
// prevent others from admitting calls. After correcting the clock, an operator uses the kill
// switch, so that the earlier records are ignored.
type Clock struct {
	Latest int64 // latest time of all records, or 0 if there are no records
	Told   int64 // time when the kill switch was last used, or 0 if it never was
	Ahead  int64 // Latest is ignored until it exceeds this time; each use of the kill switch sets this time to the later of Latest and Told
}

// Newest returns the newest reliable time. A call must not be admitted much earlier than this time.
func (c Clock) Newest() time.Time {
	if c.Latest > c.Ahead {
		return time.UnixMicro(c.Latest)
	}
	return time.UnixMicro(c.Told)
}

// Change is the new content of a [backend.Part]. If the version is 0, the part is removed.
type Change struct {
	backend.Part          // if Data is nil, the data in the database is unchanged
	Changes      [][]byte // changes to merge into the stored data
	Cleared      bool     // whether to remove all stored values of the part before writing the new values
}

// Merged returns the part's new data: the changes applied to c.Data or, if c.Data is nil, to the
// stored data.
func (c *Change) Merged(stored []byte) ([]byte, error) {
	data := c.Data
	if data == nil && c.Version > 0 {
		data = stored
	}
	if len(c.Changes) == 0 {
		return data, nil
	}
	return statecode.Merge(data, c.Changes)
}

// Fold holds all changes in the log since an earlier place.
type Fold struct {
	From  uint64 // the step that precedes the changes
	To    Place
	Parts []Change
	Stops map[string]*backend.Stop // changed stops, keyed by session; nil means that the stop has ended
	Used  map[string]time.Time     // times when approvals were used, keyed by approval ID
	Heads []backend.Record         // last record of each chain
	Clock Clock
}

// FoldError returns the error for a [Fold] whose changes begin after the [Place] that the database
// has reached.
func FoldError(have, from uint64) error {
	return fmt.Errorf("%w: its checkpoint is at step %d, but was at %d; restore the newer copy", backend.ErrRolledBack, have, from)
}

// Fold writes the changes to the database, unless another process has already done so. It returns
// the new place of the database, which is f.To or a later one.
func (c *Checkpoint) Fold(f *Fold) (at Place, err error) {
	err = c.write("folding the log into the state database", func(l *link) error {
		if at, err = readPlace(l); err != nil {
			return err
		}
		if at.ID != f.To.ID {
			return fmt.Errorf("%w: the log belongs to another database; restore its own database", backend.ErrRolledBack)
		}
		if at.Step >= f.To.Step {
			return nil
		}
		if at.Step < f.From {
			return FoldError(at.Step, f.From)
		}
		at = f.To
		return f.write(l)
	})
	if err != nil {
		return Place{}, err
	}
	return at, nil
}

func (f *Fold) write(l *link) error {
	for i := range f.Parts {
		if err := writePart(l, &f.Parts[i]); err != nil {
			return err
		}
	}
	if err := f.approvalsAndStops(l); err != nil {
		return err
	}
	for i := range f.Heads { // skip chains that have already been removed
		r := &f.Heads[i]
		if err := l.exec(`INSERT OR REPLACE INTO head (writer, seq, hash, time, session, object) SELECT ?, ?, ?, ?, ?, ?
WHERE NOT EXISTS (SELECT 1 FROM removed WHERE writer = ? AND through >= ?)`,
			r.Writer, int64(r.Seq), r.Hash[:], r.Time.UnixMicro(), r.Session, string(r.Object), r.Writer, int64(r.Seq)); err != nil {
			return err
		}
	}
	if err := l.exec("INSERT INTO counter (name, value) VALUES ('latest', ?), ('told', ?), ('ahead', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
		f.Clock.Latest, f.Clock.Told, f.Clock.Ahead); err != nil {
		return err
	}
	to := &f.To
	return l.exec("UPDATE place SET step = ?, hash = ?, segment = ?, offset = ?", int64(to.Step), to.Hash[:], int64(to.Segment), to.Offset)
}

func (f *Fold) approvalsAndStops(l *link) error {
	for session, s := range f.Stops {
		var err error
		if s == nil {
			err = l.exec("DELETE FROM stop WHERE session = ?", session)
		} else {
			err = l.exec("INSERT OR REPLACE INTO stop (session, actor, reason, time) VALUES (?, ?, ?, ?)", session, s.Actor, s.Reason, s.Time.UnixMicro())
		}
		if err != nil {
			return err
		}
	}
	for id, at := range f.Used {
		if err := l.exec("UPDATE approval SET state = ?, version = version + 1, ended = ? WHERE id = ? AND state = ?",
			backend.Consumed, at.UnixMicro(), id, backend.Approved); err != nil {
			return err
		}
	}
	if len(f.Stops)+len(f.Used) == 0 {
		return nil
	}
	return notifyChange(l)
}

func writePart(l *link, c *Change) error {
	scope, name := string(c.ID.Scope), c.ID.Name
	if c.Cleared {
		if err := l.exec("DELETE FROM part_value WHERE scope = ? AND name = ?", scope, name); err != nil {
			return err
		}
	}
	if c.Version == 0 {
		return l.exec("DELETE FROM part WHERE scope = ? AND name = ?", scope, name)
	}
	var stored []byte
	if c.Data == nil {
		if _, err := l.row("SELECT data FROM part WHERE scope = ? AND name = ?", []any{scope, name}, &stored); err != nil {
			return err
		}
	}
	data, err := c.Merged(stored)
	if err != nil {
		return fmt.Errorf("%s %q: %w", scope, name, err)
	}
	if err := l.exec(`INSERT INTO part (scope, name, version, changed, data) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (scope, name) DO UPDATE SET version = excluded.version, changed = excluded.changed, data = excluded.data`,
		scope, name, c.Version, c.Changed.UnixMicro(), string(data)); err != nil {
		return err
	}
	for key, data := range c.Values {
		var err error
		if data == nil {
			err = l.exec("DELETE FROM part_value WHERE scope = ? AND name = ? AND key = ?", scope, name, key)
		} else {
			err = l.exec("INSERT INTO part_value (scope, name, key, data) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET data = excluded.data",
				scope, name, key, string(data))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// notifyChange notifies other processes that approvals or stops have changed.
func notifyChange(l *link) error {
	return l.exec("UPDATE counter SET value = value + 1 WHERE name = 'attention'")
}
