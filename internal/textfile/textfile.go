// Package textfile changes text files that people edit: it shows differences, and replaces a file
// either completely or not at all.
package textfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/petrigate/petrigate/internal/text"
)

// Diff returns a unified diff of two versions of a file, or nil if they are equal.
func Diff(oldName string, before []byte, newName string, after []byte) []byte {
	return diff.Diff(oldName, before, newName, after)
}

// DiffWithout is like [Diff], but replaces secrets in the result with asterisks. If a secret
// contains another secret, the longer one must come first in secrets.
func DiffWithout(secrets []string, oldName string, before []byte, newName string, after []byte) string {
	masked := text.Masker(secrets, "****")
	diff := Diff(oldName, []byte(masked.Replace(string(before))), newName, []byte(masked.Replace(string(after))))
	return strings.TrimSpace(text.EscapeLines(diff))
}

// Replace atomically replaces the content of a file, preserving its mode and owner. A missing file
// is created, accessible only to the current user. A concurrent reader sees either the complete old
// text or the complete new text. If the file is a symbolic link, its target is replaced.
func Replace(file string, src []byte) (err error) {
	defer func() { err = wrapError(file, err) }()
	path, mode := file, fs.FileMode(0o600)
	var old fs.FileInfo
	if target, err := filepath.EvalSymlinks(file); err == nil {
		path = target
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if info, err := os.Stat(path); err == nil {
		old, mode = info, info.Mode()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return replaceFile(path, src, mode, old)
}

// ReplacePrivate is like [Replace], but makes the file accessible only to the current user.
func ReplacePrivate(file string, src []byte) error {
	return wrapError(file, replaceFile(file, src, 0o600, nil))
}

// replaceFile atomically replaces the file at path. The new file gets the owner of the old file or,
// if old is nil, the owner of this process.
func replaceFile(path string, src []byte, mode fs.FileMode, old fs.FileInfo) error {
	next, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	if err = writeAll(next, src, mode, old); err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		_ = os.Remove(next.Name())
	}
	return err
}

// Create creates a file. It returns an error if the file exists.
func Create(file string, src []byte) (err error) {
	defer func() { err = wrapError(file, err) }()
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // other users may read rules
	if err != nil {
		return err
	}
	_, err = f.Write(src)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(file)
	}
	return err
}

func wrapError(file string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("writing %s: %w", file, text.Innermost(err))
}

// writeAll writes the content of a new file, sets its mode, and closes it. If old is not nil, the
// new file gets the owner of the old file.
func writeAll(f *os.File, text []byte, mode fs.FileMode, old fs.FileInfo) error {
	_, err := f.Write(text)
	if err == nil && old != nil {
		err = keepOwner(f, old)
	}
	if err == nil {
		err = f.Chmod(mode.Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
