package sqlite

import (
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
	"github.com/petrigate/petrigate/internal/serve/store/migration"
)

//go:embed schema/*.sql
var files embed.FS

var schema = migration.Of(files)

// application marks the file as ours: "Ptri".
const application = 0x50747269

// The oldest SQLite that does not lose data where two connections write and checkpoint.
var oldest = [3]int{3, 51, 3}

// checkVersion refuses a SQLite that is too old.
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
		case v[i] > oldest[i]:
			return nil
		case v[i] < oldest[i]:
			return fmt.Errorf("SQLite %s may damage a database that several processes write; at least %d.%d.%d is needed", version, oldest[0], oldest[1], oldest[2])
		}
	}
	return nil
}

// examine refuses a database that is not ours to write, or cannot be written by this
// SQLite, and says whether there is nothing in it yet.
func examine(l *link) (empty bool, err error) {
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

// migrate brings the schema up to date. No other process writes meanwhile.
func migrate(l *link) error {
	if err := l.run("PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	if err := l.run("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := upgrade(l)
	if err == nil {
		err = touch(l) // of a file that may not be written, BEGIN says nothing
	}
	if err != nil {
		return errors.Join(err, l.run("ROLLBACK"))
	}
	return l.run("COMMIT")
}

func upgrade(l *link) error {
	have, err := l.number("PRAGMA user_version")
	if err != nil {
		return err
	}
	return schema.Run(int(have), func(to int, sql string) error {
		return l.run(fmt.Sprintf("%s; PRAGMA application_id = %d; PRAGMA user_version = %d", sql, application, to))
	})
}

var errForeign = backend.Unusable(errors.New("it is a database of another program"))
