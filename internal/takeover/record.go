package takeover

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/safefile"
	"github.com/petrigate/petrigate/internal/textfile"
)

// A record holds the changes that petrigate made to a file, so that they can be undone.
type record struct {
	Version int       `json:"version"`
	Client  string    `json:"client"`
	File    string    `json:"file"`
	Time    time.Time `json:"time"`
	Steps   []step    `json:"steps"`
}

// A step is a single change to a file. Before and After are the file's contents before and after
// the change, and Existed is false if the step created the file.
type step struct {
	Existed bool      `json:"existed"`
	Before  []byte    `json:"before"`
	After   []byte    `json:"after"`
	Removed []removed `json:"removed"`
}

// removed holds the names of the entries that a step has removed from a single mapping or list.
type removed struct {
	Path  []string `json:"path"`
	Named string   `json:"named,omitempty"`
	Names []string `json:"names"`
}

func (r removed) place() splice.Place { return splice.Place{Path: r.Path, Named: r.Named} }

// records provides access to the records of changed files in the state directory. It locks the
// directory while it changes a record, because other petrigate processes may use the same
// directory.
type records struct{ dir string }

// records returns the records in the driver's state directory.
func (d *Driver) records() records { return records{d.State} }

// path returns the path of the file's record.
func (r records) path(f *file) string {
	return filepath.Join(r.dir, fmt.Sprintf("connected-%s-%s.json", f.client.Name, digest([]byte(f.target))))
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return fmt.Sprintf("%x", sum[:6])
}

// read returns the file's record, or nil if petrigate has not changed the file.
func (r records) read(f *file) (*record, error) {
	name := r.path(f)
	src, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	n := &record{}
	if err == nil {
		err = json.Unmarshal(src, n)
	}
	if err == nil && (n.Version != 1 || len(n.Steps) == 0) {
		err = errors.New("another version of petrigate wrote it")
	}
	if err != nil {
		return nil, fmt.Errorf("reading the backup of %s in %s: %w%s", f.path, name, err, f.backupHint())
	}
	return n, nil
}

// writeFile writes a file in the state directory, readable only by this user.
func (r records) writeFile(name string, src []byte) error {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return fmt.Errorf("making %s: %w", r.dir, err)
	}
	if err := safefile.CheckOwnDirectory(r.dir); err != nil {
		return err
	}
	return textfile.Replace(name, src)
}

// change adds a step to the file's record and then writes the file. It holds the lock of the state
// directory. connected reports whether the file already contains petrigate's entry. If connected is
// true or the file has a record, change keeps an existing backup.
func (r records) change(f *file, s step, connected bool) error {
	return r.locked(func() error {
		n, err := r.read(f)
		if err == nil {
			err = f.unchanged()
		}
		if err != nil {
			return err
		}
		next := &record{Version: 1, Client: f.client.Name, File: f.path, Time: time.Now(), Steps: []step{s}}
		if n != nil {
			next.Steps = append(slices.Clone(n.Steps), s)
		}
		if err := r.write(f, next); err != nil {
			return err
		}
		first := n == nil && !connected
		err = f.keepBackup(first)
		if err == nil {
			err = f.write(s.After)
		}
		if err == nil {
			return nil
		}
		if first {
			err = errors.Join(err, f.dropBackup(f.src))
		}
		if n == nil {
			return errors.Join(err, os.Remove(r.path(f)))
		}
		return errors.Join(err, r.write(f, n))
	})
}

// undo writes or removes a file and then deletes its record. It holds the lock of the state
// directory. asBefore reports whether the file is in its original state again. If asBefore is true,
// undo also deletes the backup, unless the backup has different content.
func (r records) undo(f *file, after []byte, exists, asBefore bool) error {
	return r.locked(func() error {
		err := f.unchanged()
		if err == nil {
			err = f.apply(after, exists)
		}
		if err == nil && asBefore {
			err = f.dropBackup(after)
		}
		if err != nil {
			return err
		}
		if err := os.Remove(r.path(f)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// locked runs f while holding the lock of the state directory. Other petrigate processes cannot
// change the records meanwhile.
func (r records) locked(f func() error) error { return textfile.Locked(r.dir, f) }

func (r records) write(f *file, n *record) error {
	src, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return r.writeFile(r.path(f), src)
}

// copySource saves a copy of an imported file in the state directory and returns the copy's name.
func (r records) copySource(f *file) (string, error) {
	name := filepath.Join(r.dir, fmt.Sprintf("taken-%s-%s%s", f.client.Name, digest(f.src), filepath.Ext(f.path)))
	return name, r.writeFile(name, f.src)
}
