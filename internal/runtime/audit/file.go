package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/petrigate/petrigate/internal/safefile"
)

// inspect reports whether f is a regular file. It returns an error if f is a directory, pipe or
// socket, if it belongs to another user, or if other users could write to it.
func inspect(f *os.File) (regular bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return false, errors.New("it is a directory")
	case mode&(os.ModeNamedPipe|os.ModeSocket) != 0:
		return false, errors.New("it is a pipe or a socket")
	case !mode.IsRegular():
		return false, nil // the file is a device, which cannot be read
	}
	return true, safefile.CheckFile(info)
}

func notRegular(regular bool) error {
	if regular {
		return nil
	}
	return errors.New("it is not a regular file")
}

// open opens or creates the file after checking that its directory is safe.
func open(path string) (*os.File, error) {
	if err := safefile.CheckDirectory(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return openFile(path, os.O_APPEND)
}

// openError wraps err with the file's name, without repeating the name if err already contains it.
func openError(path string, err error) error {
	var about *fs.PathError
	if errors.As(err, &about) && about.Path == path {
		err = about.Err
	}
	return fmt.Errorf("opening the audit log %s: %w", path, err)
}
