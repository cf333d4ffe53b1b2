// Package migration upgrades a database's schema with SQL files, one for each version. There are no
// downgrades. A released file must never change, because databases may have been written by any
// released version.
package migration

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Series is a database's list of migrations: the contents of the files schema/*.sql, sorted by
// name. The first file creates version 1.
type Series []string

// Load returns the migrations in the embedded files schema/*.sql.
func Load(files embed.FS) (s Series) {
	names, err := fs.Glob(files, "schema/*.sql")
	for _, name := range names {
		text, failed := files.ReadFile(name)
		err = errors.Join(err, failed)
		s = append(s, string(text))
	}
	if err != nil {
		panic(err) // impossible, because the pattern is valid and the files are embedded
	}
	return s
}

// Check returns an error if a newer program has migrated the database to a schema version that this
// program does not know.
func (s Series) Check(version int) error {
	if version > len(s) {
		return backend.Unusable(fmt.Errorf("a newer petrigate wrote it (schema %d; this one supports %d): run the newer one", version, len(s)))
	}
	return nil
}

// Run calls the function for each migration after the given version.
func (s Series) Run(version int, apply func(to int, sql string) error) error {
	for to := version + 1; to <= len(s); to++ {
		if err := apply(to, s[to-1]); err != nil {
			return fmt.Errorf("migrating the schema to version %d: %w", to, err)
		}
	}
	return nil
}
