// Package migration brings the schema of a database up to date: by files of SQL, one for
// each version, which only go forward. A file that was released never changes, since a
// database may have been written by any of them.
package migration

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// A Series is the migrations of a database: the texts of the files schema/*.sql, in the
// order of their names. The first makes version 1.
type Series []string

// Of reads the files of a series, which are part of the program.
func Of(files embed.FS) (s Series) {
	names, err := fs.Glob(files, "schema/*.sql")
	for _, name := range names {
		text, failed := files.ReadFile(name)
		err = errors.Join(err, failed)
		s = append(s, string(text))
	}
	if err != nil {
		panic(err) // the pattern is sound, and the files are there
	}
	return s
}

// Check refuses a database of a version that this program does not know.
func (s Series) Check(version int) error {
	if version > len(s) {
		return backend.Unusable(fmt.Errorf("a newer petrigate wrote it (schema %d; this one knows %d): run that one", version, len(s)))
	}
	return nil
}

// Run applies what a database of this version lacks.
func (s Series) Run(version int, apply func(to int, sql string) error) error {
	for to := version + 1; to <= len(s); to++ {
		if err := apply(to, s[to-1]); err != nil {
			return fmt.Errorf("bringing the schema to version %d: %w", to, err)
		}
	}
	return nil
}
