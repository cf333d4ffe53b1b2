package takeover

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/textfile"
)

// A file is the current state of a client's configuration file.
type file struct {
	client clientcfg.Client
	path   string // path for use in messages
	target string // path after resolving symbolic links
	exists bool
	src    []byte
	doc    *splice.Document
}

// firstExisting returns the first file that exists. If none of the files exists, it returns the
// first one.
func firstExisting(files []string) string {
	for _, file := range files {
		if _, err := os.Lstat(file); err == nil {
			return file
		}
	}
	return files[0]
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// readRegular reads a regular file. It returns an error for any other kind of file, because reading
// a named pipe, for example, would block.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// write replaces the file's content. It returns an error if the file has changed since it was read.
func (f *file) write(after []byte) error {
	if err := f.unchanged(); err != nil {
		return err
	}
	if !f.exists {
		if err := os.MkdirAll(filepath.Dir(f.target), 0o700); err != nil {
			return fmt.Errorf("creating the folder of %s: %w", f.path, err)
		}
	}
	return textfile.Replace(f.target, after)
}

// apply writes the file, or removes it if the file must no longer exist.
func (f *file) apply(after []byte, exists bool) error {
	switch {
	case !exists && f.exists:
		return os.Remove(f.target)
	case exists && string(after) != string(f.src):
		return f.write(after)
	}
	return nil
}

// unchanged reads the file again. It returns an error if the content has changed, or if the file
// has been removed or cannot be read. If the file did not exist before and still does not, it
// returns nil.
func (f *file) unchanged() error {
	now, err := readRegular(f.target)
	if errors.Is(err, fs.ErrNotExist) {
		now, err = nil, nil
		if f.exists {
			err = fmt.Errorf("it no longer exists; nothing was written. Run the command again")
		}
	}
	if err != nil {
		return fmt.Errorf("reading %s again: %w", f.path, err)
	}
	if !bytes.Equal(now, f.src) {
		return fmt.Errorf("%s has changed since it was shown; nothing was written. Run the command again", f.path)
	}
	return nil
}

// backup returns the path of the backup made by Connect.
func (f *file) backup() string {
	if strings.HasSuffix(f.client.Name, "-hooks") { // a file with hooks may also list servers; hooks and servers have separate backups
		return f.target + ".before-petrigate-hooks"
	}
	return f.target + ".before-petrigate"
}

// backupHint returns a hint with the path of the file's backup, for use at the end of an error
// message. If the backup does not exist, it returns "".
func (f *file) backupHint() string {
	if _, err := os.Lstat(f.backup()); err != nil {
		return ""
	}
	return fmt.Sprintf("; the original file may be in %s", f.backup())
}

// keepBackup makes a backup of the file, if the file exists. Only this user can read the backup,
// because it may contain secrets. If first is true, the new backup replaces an existing one. first
// is true if the file has no record of changes and does not contain petrigate's entry yet. If first
// is false, keepBackup keeps an existing backup, because it dates from before the entry was added.
func (f *file) keepBackup(first bool) error {
	_, err := os.Lstat(f.backup())
	if !f.exists || err == nil && !first {
		return nil
	}
	if err := textfile.ReplacePrivate(f.backup(), f.src); err != nil {
		return fmt.Errorf("making a backup: %w", err)
	}
	return nil
}

// dropBackup removes the backup if it has the given content.
func (f *file) dropBackup(before []byte) error {
	kept, err := os.ReadFile(f.backup())
	if errors.Is(err, fs.ErrNotExist) || err == nil && string(kept) != string(before) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Remove(f.backup())
}
