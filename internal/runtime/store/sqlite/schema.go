package sqlite

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/migration"
)

//go:embed schema/*.sql
var files embed.FS

var schema = migration.Load(files)

// application is the application ID of petrigate databases: "Ptri" in ASCII.
const application = 0x50747269

// minVersion is the oldest SQLite version that does not lose data if two connections write and
// checkpoint concurrently.
var minVersion = [3]int{3, 51, 3}

// checkVersion returns an error if the SQLite version is too old.
func checkVersion(version string) error {
	var v [3]int
	for i, s := range strings.SplitN(version, ".", 3) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return fmt.Errorf("SQLite reports the invalid version %q", version)
		}
		v[i] = n
	}
	if slices.Compare(v[:], minVersion[:]) < 0 {
		return fmt.Errorf("SQLite %s can damage a database that several processes write; petrigate requires %d.%d.%d or later", version, minVersion[0], minVersion[1], minVersion[2])
	}
	return nil
}

// checkSchema returns an error if the database belongs to another program or has a schema that this
// program cannot write.
func checkSchema(l *link) error {
	var version string
	if _, err := l.row("SELECT sqlite_version()", nil, &version); err != nil {
		return err
	}
	if err := checkVersion(version); err != nil {
		return err
	}
	id, err := l.number("PRAGMA application_id")
	if err != nil {
		return err
	}
	tables, err := l.number("SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return err
	}
	if id != application && (id != 0 || tables > 0) {
		return errForeign
	}
	have, err := l.number("PRAGMA user_version")
	if err == nil {
		err = schema.Check(int(have))
	}
	return err
}

// firstLogged is the first schema version whose records are in the log.
const firstLogged = 4

var errForeign = backend.Unusable(errors.New("it is another program's database"))
