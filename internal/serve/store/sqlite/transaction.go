package sqlite

import (
	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// A transaction is one of the scribe. What it will have changed is kept once it is
// committed.
type transaction struct {
	*scribe
	link    *link
	chain   chain // with the records of this transaction
	clock   clock
	drafts  map[backend.PartID]*draft
	refused map[backend.PartID]bool // by ops that were refused
	stop    func(map[string]bool)   // what it does to the stops
}

// keep notes what was committed.
func (tx *transaction) keep() {
	s := tx.scribe
	s.chain = tx.chain
	n := &s.notes
	n.clock = tx.clock
	if len(n.versions)+len(tx.drafts) > most {
		n.versions = map[backend.PartID]int64{}
	}
	for id, d := range tx.drafts {
		n.versions[id] = d.version
	}
	if tx.stop != nil {
		tx.stop(n.stops)
	}
}

// record puts events on the chain of this process.
func (tx *transaction) record(events []backend.Event) error {
	for i := range events {
		if err := tx.enter(&events[i]); err != nil {
			return err
		}
	}
	return nil
}

func (tx *transaction) enter(e *backend.Event) error {
	if err := tx.enroll(); err != nil {
		return err
	}
	c := &tx.chain
	c.seq++
	c.hash = audit.Link(c.hash, c.seq, e.Object)
	at := e.Time.UnixMicro()
	tx.clock.latest = max(tx.clock.latest, at)
	_, err := tx.link.exec("INSERT INTO record (writer, seq, hash, time, late, session, object) VALUES (?, ?, ?, ?, ?, ?, ?)",
		c.id, int64(c.seq), c.hash[:], at, tx.clock.latest-at, e.Session, string(e.Object))
	return err
}

// enroll makes sure that the writer has a row.
func (tx *transaction) enroll() error {
	if tx.chain.id != 0 {
		return nil
	}
	if _, err := tx.link.exec("INSERT INTO writer (name) VALUES (?) ON CONFLICT DO NOTHING", tx.name); err != nil {
		return err
	}
	var err error
	tx.chain.id, err = tx.link.number("SELECT id FROM writer WHERE name = ?", tx.name)
	return err
}

// attend tells the other processes that approvals or stops have changed.
func (tx *transaction) attend() error {
	_, err := tx.link.exec("UPDATE counter SET value = value + 1 WHERE name = 'attention'")
	return err
}

// tell notes what time it is where the kill switch is used.
func (tx *transaction) tell(at int64) error {
	tx.clock.told, tx.clock.ahead = at, max(at, tx.clock.latest)
	_, err := tx.link.exec("INSERT INTO counter (name, value) VALUES ('told', ?), ('ahead', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
		tx.clock.told, tx.clock.ahead)
	return err
}
