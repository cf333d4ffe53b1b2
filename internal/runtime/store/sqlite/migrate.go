package sqlite

import (
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// migrate upgrades the schema to the newest version. The caller must prevent other processes from
// writing at the same time.
func (c *connection) migrate() error {
	l := c.link
	if err := l.run("PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	if err := l.run("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	shrinks, err := c.upgrade()
	if err == nil {
		err = l.exec("UPDATE counter SET value = value + 1 WHERE name = 'witnessed'") // BEGIN succeeds even if the file is not writable
	}
	if err != nil {
		return errors.Join(err, l.run("ROLLBACK"))
	}
	if err := l.run("COMMIT"); err != nil {
		return err
	}
	if shrinks {
		_ = l.run("VACUUM") // without free space, VACUUM fails and the file stays large
	}
	return nil
}

func (c *connection) upgrade() (shrinks bool, err error) {
	l := c.link
	have, err := l.number("PRAGMA user_version")
	if err != nil {
		return false, err
	}
	err = schema.Run(int(have), func(to int, sql string) error {
		var old []Segment
		if to == firstLogged && have > 0 {
			shrinks = true
			if old, err = c.exportRecords(); err != nil {
				return err
			}
		}
		if err := l.run(fmt.Sprintf("%s; PRAGMA application_id = %d; PRAGMA user_version = %d", sql, application, to)); err != nil || to != firstLogged {
			return err
		}
		if err := insertSegments(l, old); err != nil {
			return err
		}
		return insertPlace(l, len(old))
	})
	return shrinks, err
}

// exportRecords copies records of an older schema from their table to the log.
func (c *connection) exportRecords() ([]Segment, error) {
	total, err := c.link.number("SELECT count(*) FROM record")
	if err != nil || c.export == nil {
		return nil, err
	}
	return c.export(total, func(yield func(backend.Record, error) bool) {
		for after, more := int64(0), true; more; {
			page, last, err := c.oldRecords(after)
			if err != nil {
				yield(backend.Record{}, err)
				return
			}
			for i := range page {
				if !yield(page[i], nil) {
					return
				}
			}
			after, more = last, len(page) > 0
		}
	})
}

// oldRecords reads the next records after the given row, in commit order.
func (c *connection) oldRecords(after int64) (page []backend.Record, last int64, err error) {
	const next = `SELECT r.id, w.name, r.seq, r.hash, r.time, r.session, r.object FROM record r JOIN writer w ON w.id = r.writer
  WHERE r.id > ? ORDER BY r.id LIMIT 1000`
	err = c.link.rows(next, []any{after}, func(scan func(...any) error) error {
		r, damaged, err := scanRecord(scan, &last)
		if err == nil && damaged {
			err = errDamaged("record", last)
		}
		page = append(page, r)
		return err
	})
	return page, last, err
}
