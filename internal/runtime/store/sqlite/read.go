package sqlite

import (
	"database/sql"
	"fmt"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Reading is a read transaction: all its reads see the same state.
type Reading struct{ link *link }

// Read runs f in a transaction. The Reading is valid only until f returns.
func (c *Checkpoint) Read(f func(r Reading) error) error {
	if err := c.reader.use(func(l *link) error { return f(Reading{l}) }); err != nil {
		return fmt.Errorf("reading from the state database: %w", err)
	}
	return nil
}

// Place returns the position in the log of the last step that the database contains.
func (r Reading) Place() (Place, error) { return readPlace(r.link) }

// Clock returns the database's [Clock].
func (r Reading) Clock() (c Clock, err error) {
	const all = `SELECT coalesce((SELECT value FROM counter WHERE name = 'latest'), 0),
  coalesce((SELECT value FROM counter WHERE name = 'told'), 0), coalesce((SELECT value FROM counter WHERE name = 'ahead'), 0)`
	_, err = r.link.row(all, nil, &c.Latest, &c.Told, &c.Ahead)
	return c, err
}

// Part reads a [backend.Part] with its values. A missing part has version 0.
func (r Reading) Part(id backend.PartID) (p backend.Part, err error) {
	p.ID = id
	args := []any{string(id.Scope), id.Name}
	var changed int64
	found, err := r.link.row("SELECT version, changed, data FROM part WHERE scope = ? AND name = ?", args, &p.Version, &changed, &p.Data)
	if err != nil || !found {
		return p, err
	}
	p.Changed = fromMicro(changed)
	err = r.link.rows("SELECT key, data FROM part_value WHERE scope = ? AND name = ?", args, func(scan func(...any) error) error {
		var key string
		var data []byte
		err := scan(&key, &data)
		if p.Values == nil {
			p.Values = map[string][]byte{}
		}
		p.Values[key] = data
		return err
	})
	return p, err
}

// Version reads the version of a [backend.Part], or returns 0 if the part does not exist.
func (r Reading) Version(id backend.PartID) (int64, error) {
	return r.link.number("SELECT version FROM part WHERE scope = ? AND name = ?", string(id.Scope), id.Name)
}

// Parts reads every [backend.Part] that has the given scope and whose data contains the given text.
// The parts are sorted by the time of their last change. Their field Values is not set.
func (r Reading) Parts(scope backend.Scope, text string) (all []backend.Part, err error) {
	const parts = "SELECT name, version, changed, data FROM part WHERE scope = ? AND instr(data, ?) > 0 ORDER BY changed, name"
	err = r.link.rows(parts, []any{string(scope), text}, func(scan func(...any) error) error {
		p := backend.Part{ID: backend.PartID{Scope: scope}}
		var changed int64
		err := scan(&p.ID.Name, &p.Version, &changed, &p.Data)
		p.Changed = fromMicro(changed)
		all = append(all, p)
		return err
	})
	return all, err
}

// Stops reads the stops in force, keyed by session.
func (r Reading) Stops() (map[string]backend.Stop, error) {
	all := map[string]backend.Stop{}
	err := r.link.rows("SELECT session, actor, reason, time FROM stop", nil, func(scan func(...any) error) error {
		var s backend.Stop
		var at int64
		err := scan(&s.Session, &s.Actor, &s.Reason, &at)
		s.Time = fromMicro(at)
		all[s.Session] = s
		return err
	})
	return all, err
}

// Heads reads each chain's last record.
func (r Reading) Heads() (all []backend.Record, err error) {
	err = r.link.rows("SELECT writer, seq, hash, time, session, object FROM head", nil, func(scan func(...any) error) error {
		h, damaged, err := scanRecord(scan)
		if err == nil && damaged {
			err = errDamaged("last record of", h.Writer)
		}
		all = append(all, h)
		return err
	})
	return all, err
}

// scanRecord scans a row that ends with the columns writer, seq, hash, time, session and object,
// and returns these as a record. Any earlier columns are scanned into the additional arguments.
// scanRecord also reports whether the hash is damaged.
func scanRecord(scan func(...any) error, first ...any) (r backend.Record, damaged bool, err error) {
	var seq, at int64
	var hash []byte
	err = scan(append(first, &r.Writer, &seq, &hash, &at, &r.Session, &r.Object)...)
	copy(r.Hash[:], hash)
	r.Seq, r.Time = uint64(seq), fromMicro(at)
	return r, len(hash) != len(r.Hash), err
}

// Removed reads the number of each chain's last removed record.
func (r Reading) Removed() (map[string]uint64, error) {
	all := map[string]uint64{}
	err := r.link.rows("SELECT writer, through FROM removed", nil, func(scan func(...any) error) error {
		var writer string
		var through int64
		err := scan(&writer, &through)
		all[writer] = uint64(through)
		return err
	})
	return all, err
}

// Segments reads the index of the sealed segments, oldest first.
func (r Reading) Segments() (all []Segment, err error) {
	const segments = "SELECT s.after, s.latest, c.writer, c.first, c.last FROM segment s LEFT JOIN segment_chain c ON c.after = s.after ORDER BY s.after"
	err = r.link.rows(segments, nil, func(scan func(...any) error) error {
		var after, latest int64
		var writer sql.NullString
		var first, last sql.NullInt64
		err := scan(&after, &latest, &writer, &first, &last)
		if n := len(all); n == 0 || all[n-1].After != uint64(after) {
			all = append(all, Segment{After: uint64(after), Latest: fromMicro(latest), Chains: map[string]Range{}})
		}
		if writer.Valid {
			all[len(all)-1].Chains[writer.String] = Range{uint64(first.Int64), uint64(last.Int64)}
		}
		return err
	})
	return all, err
}
