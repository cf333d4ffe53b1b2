package basefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/safefile"
	"github.com/petrigate/petrigate/internal/textfile"
)

const (
	maxBook  = 1 << 20 // bytes
	maxDepth = 10      // of the file
)

// A Seen is the highest version of a signed base that was in force.
type Seen struct {
	Key     string `json:"key"`
	Place   string `json:"place"` // the last one, of its file or address
	Name    string `json:"name"`
	Version int    `json:"version"`
	Digest  string `json:"digest"`
}

type book struct {
	Version int    `json:"version"`
	Bases   []Seen `json:"bases"`
}

// Book is the file in the directory of state that has the versions.
func Book(dir string) string { return filepath.Join(dir, "base-policies.json") }

// Follows refuses bases that are older than what was in force, or others of the same version
// or at the same place. It writes nothing.
func Follows(path string, bases []Seen) error {
	known, err := load(path)
	if err != nil {
		return err
	}
	return follow(known, bases)
}

// Note refuses what [Follows] does, and keeps the versions of the others.
func Note(path string, bases []Seen) error {
	if len(bases) == 0 {
		return nil
	}
	return textfile.Locked(path, func() error { return note(path, bases) })
}

func note(path string, bases []Seen) error {
	known, err := load(path)
	if err != nil {
		return err
	}
	if err := follow(known, bases); err != nil {
		return err
	}
	changed := slices.Clone(known)
	for _, b := range bases {
		if i := slices.IndexFunc(changed, b.same); i >= 0 {
			changed[i] = b
		} else {
			changed = append(changed, b)
		}
	}
	if slices.Equal(changed, known) {
		return nil
	}
	data, err := json.MarshalIndent(book{1, changed}, "", "  ")
	if err != nil {
		return err
	}
	return textfile.ReplacePrivate(path, append(data, '\n'))
}

// same reports whether two entries are versions of one base.
func (s Seen) same(o Seen) bool { return s.Key == o.Key && s.Name == o.Name }

func follow(known, bases []Seen) error {
	for _, b := range bases {
		for _, k := range known {
			switch {
			case k.Key == b.Key && k.Place == b.Place && k.Name != b.Name:
				return fmt.Errorf("the base policy at %s is %q now and was %q: it was swapped for another one of the same key", b.Place, b.Name, k.Name)
			case !k.same(b):
			case b.Version < k.Version:
				return fmt.Errorf("the base policy %q was rolled back: version %d is at %s, and version %d was in force", b.Name, b.Version, b.Place, k.Version)
			case b.Version == k.Version && b.Digest != k.Digest:
				return fmt.Errorf("version %d of the base policy %q was swapped: its digest is %s and was %s; a change needs a higher version", b.Version, b.Name, b.Digest, k.Digest)
			}
		}
	}
	return nil
}

// load reads the versions; a file that is not there has none. What is not as Note writes it
// is an error: taken for an empty one, it would let every version be rolled back.
func load(path string) ([]Seen, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the versions of base policies: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the versions of base policies: %w", err)
	}
	if err := safefile.Regular(info); err != nil {
		return nil, fmt.Errorf("%s says which versions of base policies were in force: %w", path, err)
	}
	seen, err := parse(io.LimitReader(f, maxBook))
	if err != nil {
		return nil, fmt.Errorf("%s has the versions of base policies that were in force, and is not as petrigate writes it: %w; put it back, or remove it after you have looked at the version of each base", path, err)
	}
	return seen, nil
}

func parse(r io.Reader) ([]Seen, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if err := rawjson.Check(data, maxDepth); err != nil {
		return nil, err
	}
	var b book
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	switch err := d.Decode(&b); {
	case err != nil:
		return nil, err
	case b.Version != 1:
		return nil, fmt.Errorf("its version is %d, and this petrigate knows version 1", b.Version)
	}
	for i, s := range b.Bases {
		if slices.ContainsFunc(b.Bases[:i], s.same) {
			return nil, fmt.Errorf("%q is there twice", s.Name)
		}
		if s.Key == "" || s.Name == "" || s.Version < 1 || CheckDigest(s.Digest) != nil {
			return nil, errors.New("an entry is not complete")
		}
	}
	return b.Bases, nil
}
