// Package safefile rejects files and directories that other users could change unnoticed.
package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// CheckDirectory returns an error if the directory's permissions let all users replace files in it.
func CheckDirectory(dir string) error {
	info, err := directory(dir)
	if err == nil && writable(info, 0o002) && info.Mode()&os.ModeSticky == 0 {
		return fmt.Errorf("anybody may replace the files of the directory %q; chmod o-w", dir)
	}
	return err
}

// CheckOwnDirectory returns an error if other users may create files in the directory. They could
// place a file next to one that the program opens by name.
func CheckOwnDirectory(dir string) error {
	info, err := directory(dir)
	switch {
	case err != nil:
		return err
	case writable(info, 0o022):
		return fmt.Errorf("others may write to the directory %q (mode %04o); chmod go-w", dir, info.Mode().Perm())
	case foreign(info):
		return fmt.Errorf("the directory %q belongs to another user", dir)
	}
	return nil
}

// CheckProjectFile returns an error unless the file at the given path and the file's directory are
// protected against changes by other users. They must belong to root or the current user, and may
// be writable by the current user's private group, but not by others. If the path is a symbolic
// link, the directory of the link's target is also checked.
func CheckProjectFile(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	for _, name := range []string{filepath.Dir(path), filepath.Dir(real), real} {
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return err
		case foreign(info) && !ownedByRoot(info):
			return fmt.Errorf("%q belongs to another user", name)
		case writable(info, 0o002) || writable(info, 0o020) && !privateGroup(info):
			return fmt.Errorf("others may write to %q (mode %04o); chmod go-w", name, info.Mode().Perm())
		}
	}
	return nil
}

func directory(dir string) (fs.FileInfo, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%q is not a directory", dir)
	}
	return info, err
}

// CheckFile returns an error if the regular file that info describes belongs to another user or is
// writable by others.
func CheckFile(info fs.FileInfo) error {
	switch {
	case writable(info, 0o022):
		return fmt.Errorf("others may write it (mode %04o); chmod 600", info.Mode().Perm())
	case foreign(info):
		return errors.New("it belongs to another user")
	}
	return nil
}

// writable reports whether the file's mode has any of the given write permission bits. It returns
// false on Windows, which lacks these bits.
func writable(info fs.FileInfo, mask fs.FileMode) bool {
	return info.Mode().Perm()&mask != 0 && runtime.GOOS != "windows"
}
