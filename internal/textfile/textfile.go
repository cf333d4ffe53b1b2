// Package textfile changes files of text that people write: it shows the difference, and
// writes all of a text or nothing.
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

// Diff is the difference of two texts, in the unified form; empty: there is none.
func Diff(oldName string, before []byte, newName string, after []byte) []byte {
	return diff.Diff(oldName, before, newName, after)
}

// DiffWithout is [Diff] as people read it, with asterisks in the place of secrets. A whole stands before its part.
func DiffWithout(secrets []string, oldName string, before []byte, newName string, after []byte) string {
	var pairs []string
	for _, s := range secrets {
		pairs = append(pairs, s, "****")
	}
	masked := strings.NewReplacer(pairs...)
	diff := Diff(oldName, []byte(masked.Replace(string(before))), newName, []byte(masked.Replace(string(after))))
	return strings.TrimSpace(text.EscapeLines(diff))
}

// Replace writes a file anew, with its old mode and owner; one that was not there is for this user only. A
// program that reads it meanwhile sees all of the old or all of the new text. A symbolic link
// stays one.
func Replace(file string, src []byte) (err error) {
	defer func() { err = writing(file, err) }()
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
	return put(path, src, mode, old)
}

// ReplacePrivate is [Replace] of a file that only this user may read, whatever its old mode.
func ReplacePrivate(file string, src []byte) error { return writing(file, put(file, src, 0o600, nil)) }

// put puts a new file in the place of another, with its owner; nil: with that of this process.
func put(path string, src []byte, mode fs.FileMode, old fs.FileInfo) error {
	next, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	if err = fill(next, src, mode, old); err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		_ = os.Remove(next.Name())
	}
	return err
}

// Create writes a file that is not there yet.
func Create(file string, src []byte) (err error) {
	defer func() { err = writing(file, err) }()
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // others may read rules
	if err != nil {
		return err
	}
	_, err = f.Write(src)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(file)
	}
	return err
}

func writing(file string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("writing %s: %w", file, text.Innermost(err))
}

// fill writes all of a new file, with the owner of an old one if there is one, and closes it.
func fill(f *os.File, text []byte, mode fs.FileMode, old fs.FileInfo) error {
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
