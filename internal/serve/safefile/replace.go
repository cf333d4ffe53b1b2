package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/petrigate/petrigate/internal/text"
)

// Replace writes a file anew, with its old mode; a new file is for this user only. Who reads it
// meanwhile sees all of the old or all of the new text. A symbolic link stays one.
func Replace(file string, src []byte) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing %s: %w", file, text.Innermost(err))
		}
	}()
	path, mode := file, fs.FileMode(0o600)
	if real, err := filepath.EvalSymlinks(file); err == nil {
		path = real
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	if err = fill(next, src, mode); err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		_ = os.Remove(next.Name())
	}
	return err
}

// fill writes all of a new file and closes it.
func fill(f *os.File, text []byte, mode fs.FileMode) error {
	_, err := f.Write(text)
	return errors.Join(err, f.Chmod(mode.Perm()), f.Sync(), f.Close())
}
