package sqlite

import (
	"maps"
	"time"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// A draft is a part as the steps of a batch leave it.
type draft struct {
	id      backend.PartID
	stored  int64 // version in the database
	version int64 // after the steps so far; 0: it is removed
	data    []byte
	cleared bool // the values in the database go before others come
	values  map[string][]byte
	shared  bool // values is the map of a write
	changed time.Time
}

const partVersion = "SELECT version FROM part WHERE scope = ? AND name = ?"

// version is that of a part, as the steps so far leave it.
func (tx *transaction) version(id backend.PartID) (int64, error) {
	if d, ok := tx.drafts[id]; ok {
		return d.version, nil
	}
	if v, ok := tx.notes.versions[id]; ok {
		return v, nil
	}
	v, err := tx.link.number(partVersion, string(id.Scope), id.Name)
	if err == nil && len(tx.notes.versions) < most {
		tx.notes.versions[id] = v
	}
	return v, err
}

// draft makes a write part of the batch. Its version was found to be right.
func (tx *transaction) draft(w *backend.Write, changed time.Time) {
	d, ok := tx.drafts[w.ID]
	if !ok {
		d = &draft{id: w.ID, stored: w.Version, version: w.Version}
		tx.drafts[w.ID] = d
	}
	d.data, d.changed = w.Data, changed
	if w.Data == nil {
		d.version, d.cleared, d.values, d.shared = 0, true, nil, false
		return
	}
	d.version++
	switch {
	case len(w.Values) == 0:
	case d.values == nil:
		d.values, d.shared = w.Values, true
	default:
		if d.shared {
			d.values, d.shared = maps.Clone(d.values), false
		}
		maps.Copy(d.values, w.Values)
	}
}

// write puts the draft into the database.
func (tx *transaction) write(d *draft) error {
	scope, name := string(d.id.Scope), d.id.Name
	if d.cleared && d.stored > 0 {
		if _, err := tx.link.exec("DELETE FROM part_value WHERE scope = ? AND name = ?", scope, name); err != nil {
			return err
		}
	}
	var err error
	switch at := d.changed.UnixMicro(); {
	case d.version == 0 && d.stored > 0:
		_, err = tx.link.exec("DELETE FROM part WHERE scope = ? AND name = ?", scope, name)
	case d.version == 0:
	case d.stored > 0:
		_, err = tx.link.exec("UPDATE part SET version = ?, changed = ?, data = ? WHERE scope = ? AND name = ?",
			d.version, at, string(d.data), scope, name)
	default:
		_, err = tx.link.exec("INSERT INTO part (version, changed, data, scope, name) VALUES (?, ?, ?, ?, ?)",
			d.version, at, string(d.data), scope, name)
	}
	if err != nil {
		return err
	}
	return tx.writeValues(d)
}

func (tx *transaction) writeValues(d *draft) error {
	scope, name := string(d.id.Scope), d.id.Name
	for key, data := range d.values {
		var err error
		if data == nil {
			_, err = tx.link.exec("DELETE FROM part_value WHERE scope = ? AND name = ? AND key = ?", scope, name, key)
		} else {
			_, err = tx.link.exec("INSERT INTO part_value (scope, name, key, data) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET data = excluded.data",
				scope, name, key, string(data))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
