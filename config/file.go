package config

import (
	"errors"
	"io"
	"os"
	"runtime"
)

// readFile reads a regular file of at most limit bytes. It rejects any other kind of file, so that
// it never blocks on a named pipe.
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

var errTooLarge = errors.New("the file is too large")

// writable reports whether anyone besides the file's owner and group can write to the file. On
// Windows, where file modes are synthesized, it returns false.
func writable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o002 != 0 && runtime.GOOS != "windows"
}

// cause strips the path from a file system error, because the caller's message already contains the
// path.
func cause(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	return err
}
