package oauth

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// readPrivate reads a file that others cannot.
func readPrivate(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no plain file", path)
	case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		return nil, fmt.Errorf("%s can be read by other users: chmod 600 it, or log in again", path)
	}
	return os.ReadFile(path)
}

// writePrivate replaces a file by one that others cannot read. Whoever reads
// meanwhile gets the whole of either.
func writePrivate(path string, data []byte) error {
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
