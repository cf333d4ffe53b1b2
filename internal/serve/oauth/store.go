package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
	"github.com/zalando/go-keyring"

	"github.com/petrigate/petrigate/internal/textfile"
)

// Places where a store can keep grants.
const (
	Auto    = "auto"    // the keyring if available, otherwise a file
	Keyring = "keyring" // the system's keyring
	File    = "file"    // a file with mode 0600
)

// A Store keeps grants. Several processes can use the same store concurrently.
type Store struct {
	dir     string
	kind    string
	keyring func() bool // reports whether a keyring is available
}

// NewStore returns a store. The directory dir contains one lock file per grant, along with the
// grants that are not in the keyring.
func NewStore(dir, kind string) *Store {
	if kind == "" {
		kind = Auto
	}
	return &Store{dir: dir, kind: kind, keyring: keyringAvailable}
}

// path returns the path of the file that stores the grant if it is not in the keyring. lockPath
// returns the path of the grant's lock file, which is modified whenever the grant changes.
func (s *Store) path(key string) string     { return filepath.Join(s.dir, key+".json") }
func (s *Store) lockPath(key string) string { return filepath.Join(s.dir, key+".lock") }

// changeTime returns the time when the grant last changed. If the result is zero, no grant has ever
// been stored, so callers need not access the keyring.
func (s *Store) changeTime(key string) time.Time {
	info, err := os.Stat(s.lockPath(key))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// lock prevents other processes from changing the grant until unlock is called.
func (s *Store) lock(ctx context.Context, key string) (unlock func(), err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the token directory: %w", err)
	}
	f := flock.New(s.lockPath(key), flock.SetPermissions(0o600))
	if _, err := f.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		return nil, fmt.Errorf("waiting for another petrigate to release the tokens: %w", err)
	}
	return func() { _ = f.Close() }, nil
}

// load returns the grant, or nil if it does not exist.
func (s *Store) load(key string) (*Grant, error) {
	g, _, err := s.find(key)
	return g, err
}

// find returns the grant, or nil if it does not exist, along with the place where the grant is
// stored.
func (s *Store) find(key string) (g *Grant, where string, err error) {
	if s.changeTime(key).IsZero() {
		return nil, "", nil
	}
	data, where, err := s.read(key)
	if errors.Is(err, os.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading tokens from the %s: %w", where, err)
	}
	if err := json.Unmarshal(data, &g); err != nil || g == nil || g.AccessToken == "" || g.TokenURL == "" {
		return nil, "", fmt.Errorf("reading tokens from the %s: invalid content; log in again", where)
	}
	return g, where, nil
}

func (s *Store) read(key string) (data []byte, where string, err error) {
	if s.kind != File {
		data, err = s.callKeyring(func() (string, error) { return keyring.Get(service, key) })
		if err == nil || s.kind == Keyring {
			return data, Keyring, err
		}
	}
	fromFile, fileErr := readPrivate(s.path(key))
	if errors.Is(fileErr, os.ErrNotExist) && err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, errNoKeyring) {
		return nil, Keyring, err // the grant may be in the keyring, which cannot be read at the moment
	}
	return fromFile, File, fileErr
}

// save stores g, replacing an earlier grant, and returns where g is kept.
func (s *Store) save(key string, g *Grant) (where string, err error) {
	data, err := json.Marshal(g)
	if err != nil {
		return "", err
	}
	defer s.touch(key)
	if s.kind != File {
		if _, err = s.callKeyring(func() (string, error) { return "", keyring.Set(service, key, string(data)) }); err == nil {
			_ = os.Remove(s.path(key)) // the file may be left from a time when no keyring was available
			return Keyring, nil
		}
		if s.kind == Keyring {
			return "", fmt.Errorf("storing tokens in the keyring: %w", err)
		}
	}
	if err := textfile.ReplacePrivate(s.path(key), data); err != nil {
		return "", fmt.Errorf("storing tokens in a file: %w", err)
	}
	if s.kind == Auto && !errors.Is(err, errNoKeyring) {
		_ = s.dropFromKeyring(key) // an old grant in the keyring would take precedence over the file
	}
	return File, nil
}

// drop deletes a grant.
func (s *Store) drop(key string) error {
	var kept error
	if s.kind != File {
		kept = s.dropFromKeyring(key)
	}
	if err := os.Remove(s.path(key)); err != nil && !errors.Is(err, os.ErrNotExist) {
		kept = errors.Join(kept, err)
	}
	s.touch(key)
	return kept
}

// touch marks the grant as changed, so that other processes read it again.
func (s *Store) touch(key string) {
	now := time.Now()
	_ = os.Chtimes(s.lockPath(key), now, now)
}

// readPrivate reads a file. It returns an error if other users can read the file.
func readPrivate(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		return nil, fmt.Errorf("%s can be read by other users: chmod 600 it, or log in again", path)
	}
	return os.ReadFile(path)
}
