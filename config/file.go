package config

import (
	"errors"
	"io"
	"os"
)

var errTooLarge = errors.New("the file is too large")

// readFile reads a regular file of at most limit bytes. It never waits for a
// writer, as a named pipe would make it.
func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errTooLarge
	}
	return data, err
}

// writable reports whether others than the owner and the group may write a file.
func writable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o002 != 0
}
