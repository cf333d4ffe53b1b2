package takeover

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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

// A note is what is kept of a connected file, so that it can be restored.
type note struct {
	Version int       `json:"version"`
	Client  string    `json:"client"`
	File    string    `json:"file"`
	Time    time.Time `json:"time"`
	Steps   []step    `json:"steps"`
}

// A step is one change of the file, from Before to After.
type step struct {
	Existed bool      `json:"existed"`
	Before  []byte    `json:"before"`
	After   []byte    `json:"after"`
	Removed []removed `json:"removed"`
}

// A removed is the entries that were removed at one place.
type removed struct {
	Path  []string `json:"path"`
	Named string   `json:"named,omitempty"`
	Names []string `json:"names"`
}

func (r removed) place() splice.Place { return splice.Place{Path: r.Path, Named: r.Named} }

// noteFile is where the note of a file is.
func (d *Desk) noteFile(f *file) string {
	return filepath.Join(d.State, fmt.Sprintf("connected-%s-%s.json", f.client.Name, digest([]byte(f.target))))
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

// note returns what is kept of a file; nil: nothing.
func (d *Desk) note(f *file) (*note, error) {
	name := d.noteFile(f)
	src, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	n := &note{}
	if err == nil {
		err = json.Unmarshal(src, n)
	}
	if err == nil && (n.Version != 1 || len(n.Steps) == 0) {
		err = errors.New("it is of another version of petrigate")
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was kept of %s in %s: %w%s", f.path, name, err, f.older())
	}
	return n, nil
}

// keep writes something to the folder of the state, for this user only.
func (d *Desk) keep(name string, src []byte) error {
	if err := os.MkdirAll(d.State, 0o700); err != nil {
		return fmt.Errorf("making %s: %w", d.State, err)
	}
	if err := safefile.OwnDirectory(d.State); err != nil {
		return err
	}
	return textfile.Replace(name, src)
}

// change writes a file, after everything that undoing it needs, while no other petrigate does. connected
// says that the file runs petrigate already: a backup from before that is not replaced.
func (d *Desk) change(f *file, s step, connected bool) error {
	return d.alone(func() error {
		n, err := d.note(f)
		if err == nil {
			err = f.unchanged()
		}
		if err != nil {
			return err
		}
		if err := d.keepNote(f, n, s); err != nil {
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
		return errors.Join(err, d.forget(f, n))
	})
}

// undo makes a file what it is to be, and then forgets it, while no other petrigate changes it. asBefore
// says that it is as it was before: a backup that is the same is not needed.
func (d *Desk) undo(f *file, after []byte, exists, asBefore bool) error {
	return d.alone(func() error {
		err := f.unchanged()
		if err == nil {
			err = f.put(after, exists)
		}
		if err == nil && asBefore {
			err = f.dropBackup(after)
		}
		if err != nil {
			return err
		}
		if err := os.Remove(d.noteFile(f)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// alone runs f while no other petrigate changes files of clients.
func (d *Desk) alone(f func() error) error { return textfile.Locked(d.State, f) }

// keepNote adds a step to what is kept of a file.
func (d *Desk) keepNote(f *file, n *note, s step) error {
	next := note{Version: 1, Client: f.client.Name, File: f.path, Time: time.Now()}
	if n != nil {
		next.Steps = slices.Clone(n.Steps)
	}
	next.Steps = append(next.Steps, s)
	return d.putNote(f, &next)
}

// forget puts back an earlier note; nil: there was none.
func (d *Desk) forget(f *file, n *note) error {
	if n == nil {
		return os.Remove(d.noteFile(f))
	}
	return d.putNote(f, n)
}

func (d *Desk) putNote(f *file, n *note) error {
	src, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return d.keep(d.noteFile(f), src)
}

// keepTaken keeps the whole file from which servers were taken, in a file of its own.
func (d *Desk) keepTaken(f *file) (string, error) {
	name := filepath.Join(d.State, fmt.Sprintf("taken-%s-%s%s", f.client.Name, digest(f.src), filepath.Ext(f.path)))
	return name, d.keep(name, f.src)
}

// jsonText is a text as JSON writes it.
func jsonText(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text has no error
	return bytes.TrimSpace(b.Bytes())
}
