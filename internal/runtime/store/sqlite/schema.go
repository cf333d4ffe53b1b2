package sqlite

import (
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/migration"
)

//go:embed schema/*.sql
var files embed.FS

var schema = migration.Of(files)

// application marks the file as a database of petrigate: "Ptri".
const application = 0x50747269

// minVersion is the oldest SQLite that does not lose data if two connections write and checkpoint.
var minVersion = [3]int{3, 51, 3}

// checkVersion returns an error if the version of SQLite is too old.
func checkVersion(version string) error {
	var v [3]int
	for i, s := range strings.SplitN(version, ".", 3) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return fmt.Errorf("SQLite calls itself version %q, which is no version", version)
		}
		v[i] = n
	}
	for i := range v {
		switch {
		case v[i] > minVersion[i]:
			return nil
		case v[i] < minVersion[i]:
			return fmt.Errorf("SQLite %s may damage a database that several processes write; at least %d.%d.%d is needed", version, minVersion[0], minVersion[1], minVersion[2])
		}
	}
	return nil
}

// checkSchema returns an error if the database belongs to another program or this program cannot
// write it. It reports whether the database is empty.
func checkSchema(l *link) (empty bool, err error) {
	var version string
	if _, err := l.row("SELECT sqlite_version()", nil, &version); err != nil {
		return false, err
	}
	if err := checkVersion(version); err != nil {
		return false, err
	}
	id, err := l.number("PRAGMA application_id")
	if err != nil {
		return false, err
	}
	tables, err := l.number("SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return false, err
	}
	if id != application && (id != 0 || tables > 0) {
		return false, errForeign
	}
	have, err := l.number("PRAGMA user_version")
	if err == nil {
		err = schema.Check(int(have))
	}
	return tables == 0, err
}

// firstLogged is the first schema version with the records in the log.
const firstLogged = 4

// migrate converts the schema to the newest version. The caller must make sure that no other
// process writes meanwhile.
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
		_, err = l.exec("UPDATE counter SET value = value + 1 WHERE name = 'witnessed'") // BEGIN succeeds even if the file cannot be written
	}
	if err != nil {
		return errors.Join(err, l.run("ROLLBACK"))
	}
	if err := l.run("COMMIT"); err != nil {
		return err
	}
	if shrinks {
		_ = l.run("VACUUM") // without free space VACUUM fails, and the file stays large
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

// exportRecords passes the records from the table of older schemas to the log.
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

// oldRecords reads the next records after the given row, in the order of their commits.
func (c *connection) oldRecords(after int64) (page []backend.Record, last int64, err error) {
	const next = `SELECT r.id, w.name, r.seq, r.hash, r.time, r.session, r.object FROM record r JOIN writer w ON w.id = r.writer
  WHERE r.id > ? ORDER BY r.id LIMIT 1000`
	err = c.link.rows(next, []any{after}, func(scan func(...any) error) error {
		var r backend.Record
		var seq, at int64
		var hash []byte
		err := scan(&last, &r.Writer, &seq, &hash, &at, &r.Session, &r.Object)
		if err == nil && len(hash) != len(r.Hash) {
			err = errDamaged("record", last)
		}
		copy(r.Hash[:], hash)
		r.Seq, r.Time = uint64(seq), fromMicro(at)
		page = append(page, r)
		return err
	})
	return page, last, err
}

var errForeign = backend.Unusable(errors.New("it is a database of another program"))
