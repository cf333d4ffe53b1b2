package safefile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write puts data in place of a file, or makes it, with mode 0600. Whoever reads the file
// finds all of the old data or all of the new.
func Write(path string, data []byte) error {
	next, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // of mode 0600
	if err != nil {
		return err
	}
	_, err = next.Write(data)
	if err == nil {
		err = next.Sync()
	}
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		_ = os.Remove(next.Name())
	}
	return err
}
