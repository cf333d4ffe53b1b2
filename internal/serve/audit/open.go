package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// open opens or creates the file, once its directory is found to be safe.
func open(path string) (*os.File, error) {
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%q is not a directory", dir)
	case info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 && runtime.GOOS != "windows":
		return nil, fmt.Errorf("anybody may replace the files of the directory %q; chmod o-w", dir)
	}
	return openFile(path)
}

// inspect says whether the file is a regular one, and refuses a file whose
// lines could be somebody else's.
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
		return false, nil // a device: nothing to go on from
	case mode.Perm()&0o022 != 0 && runtime.GOOS != "windows":
		return false, fmt.Errorf("others may write it (mode %04o); chmod 600", mode.Perm())
	case foreign(info):
		return false, errors.New("it belongs to another user")
	}
	return true, nil
}
