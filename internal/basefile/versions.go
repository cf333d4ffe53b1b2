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
	maxVersionsFile = 1 << 20 // maximum size of the file that records versions, in bytes
	maxDepth        = 10      // maximum nesting depth of the JSON in the file that records versions
)

// A Seen records, for a signed base policy, the highest version that has ever taken effect.
type Seen struct {
	Key     string `json:"key"`
	Place   string `json:"place"` // file name or URL where the base policy was last found
	Name    string `json:"name"`
	Version int    `json:"version"`
	Digest  string `json:"digest"`
}

type versionsFile struct {
	Version int    `json:"version"`
	Bases   []Seen `json:"bases"`
}

// VersionsPath returns the path of the file that records which versions of base policies have taken
// effect. dir is the state directory.
func VersionsPath(dir string) string { return filepath.Join(dir, "base-policies.json") }

// CheckVersions returns an error if a base policy is older than its recorded version, or has the
// recorded version but another digest. It also returns an error if a base policy with the same key
// and location was recorded under another name. It does not write anything.
func CheckVersions(path string, bases []Seen) error {
	known, err := load(path)
	if err != nil {
		return err
	}
	return checkFollows(known, bases)
}

// Record makes the same checks as [CheckVersions] and then records the versions of the base
// policies in the file at path. A lock protects the file from concurrent calls of Record in this
// process and others. If bases is empty, Record does nothing.
func Record(path string, bases []Seen) error {
	if len(bases) == 0 {
		return nil
	}
	return textfile.Locked(path, func() error { return record(path, bases) })
}

func record(path string, bases []Seen) error {
	known, err := load(path)
	if err != nil {
		return err
	}
	if err := checkFollows(known, bases); err != nil {
		return err
	}
	changed := slices.Clone(known)
	for _, b := range bases {
		if i := slices.IndexFunc(changed, b.sameBase); i >= 0 {
			changed[i] = b
		} else {
			changed = append(changed, b)
		}
	}
	if slices.Equal(changed, known) {
		return nil
	}
	data, err := json.MarshalIndent(versionsFile{1, changed}, "", "  ")
	if err != nil {
		return err
	}
	return textfile.ReplacePrivate(path, append(data, '\n'))
}

// sameBase reports whether s and o record versions of the same base policy.
func (s Seen) sameBase(o Seen) bool { return s.Key == o.Key && s.Name == o.Name }

func checkFollows(known, bases []Seen) error {
	for _, b := range bases {
		for _, k := range known {
			switch {
			case k.Key == b.Key && k.Place == b.Place && k.Name != b.Name:
				return fmt.Errorf("the base policy at %s is now %q and was %q: it was replaced by another policy of the same key", b.Place, b.Name, k.Name)
			case !k.sameBase(b):
			case b.Version < k.Version:
				return fmt.Errorf("the base policy %q was rolled back: version %d is at %s, but version %d was in force", b.Name, b.Version, b.Place, k.Version)
			case b.Version == k.Version && b.Digest != k.Digest:
				return fmt.Errorf("version %d of the base policy %q was replaced: its digest is %s and was %s; a change requires a higher version", b.Version, b.Name, b.Digest, k.Digest)
			}
		}
	}
	return nil
}

// load reads the recorded versions. If the file does not exist, load returns no versions. If the
// file is damaged or another user could have written to it, load returns an error, because treating
// it as empty would allow all versions to be rolled back.
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
	if err := safefile.CheckFile(info); err != nil {
		return nil, fmt.Errorf("reading %s, the versions of base policies in force: %w", path, err)
	}
	seen, err := parse(io.LimitReader(f, maxVersionsFile))
	if err != nil {
		return nil, fmt.Errorf("%s, the versions of base policies in force, is damaged: %w; restore it, or check the version of each base and remove the file", path, err)
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
	var b versionsFile
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	switch err := d.Decode(&b); {
	case err != nil:
		return nil, err
	case b.Version != 1:
		return nil, fmt.Errorf("its version is %d, but this petrigate supports version 1", b.Version)
	}
	for i, s := range b.Bases {
		if slices.ContainsFunc(b.Bases[:i], s.sameBase) {
			return nil, fmt.Errorf("%q is listed twice", s.Name)
		}
		if s.Key == "" || s.Name == "" || s.Version < 1 || CheckDigest(s.Digest) != nil {
			return nil, errors.New("an entry is not complete")
		}
	}
	return b.Bases, nil
}
