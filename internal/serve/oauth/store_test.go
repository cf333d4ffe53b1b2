package oauth

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zalando/go-keyring"
)

func grantOf(token string) *Grant {
	return &Grant{Server: "notes", AccessToken: token, TokenURL: "https://login.example/token", Obtained: time.Unix(1, 0).UTC()}
}

func saved(t *testing.T, s *Store, g *Grant) string {
	t.Helper()
	unlock, err := s.lock(t.Context(), "notes")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	where, err := s.save("notes", g)
	if err != nil {
		t.Fatal(err)
	}
	return where
}

func loaded(t *testing.T, s *Store, want *Grant) {
	t.Helper()
	got, err := s.load("notes")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestStoreInFile(t *testing.T) {
	s := NewStore(filepath.Join(t.TempDir(), "a", "b"), File)
	loaded(t, s, nil)
	if where := saved(t, s, grantOf("one")); where != File {
		t.Errorf("kept in %s", where)
	}
	before := s.changeTime("notes")
	saved(t, s, grantOf("two"))
	loaded(t, s, grantOf("two"))
	if !s.changeTime("notes").After(before) {
		t.Error("others would not notice the change")
	}
	path := s.path("notes")
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	entries, _ := os.ReadDir(filepath.Dir(path))
	if len(entries) != 2 { // the grant and its lock file
		t.Errorf("%v is left", entries)
	}
	if err := s.drop("notes"); err != nil {
		t.Fatal(err)
	}
	loaded(t, s, nil)
}

// TestStoreRefusesUnsafeFiles checks that files are refused if they are damaged or other users can
// access them.
func TestStoreRefusesUnsafeFiles(t *testing.T) {
	for _, test := range []struct {
		name, want string
		spoil      func(path string) error
	}{
		{"others can read it", "can be read by other users", func(path string) error { return os.Chmod(path, 0o640) }},
		{"half of it", "invalid content", func(path string) error { return os.Truncate(path, 40) }},
		{"nothing in it", "invalid content", func(path string) error { return os.WriteFile(path, []byte("{}"), 0o600) }},
		{"a link", "is not a regular file", func(path string) error {
			return errors.Join(os.Rename(path, path+"x"), os.Symlink(path+"x", path))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("modes and links are others there")
			}
			s := NewStore(t.TempDir(), File)
			saved(t, s, grantOf("one-long-token-of-the-tests"))
			if err := test.spoil(s.path("notes")); err != nil {
				t.Fatal(err)
			}
			if _, err := s.load("notes"); err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "long-token") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestStoreKeepsGrantInOnePlace checks that a grant is kept either in the keyring or in a file.
func TestStoreKeepsGrantInOnePlace(t *testing.T) {
	keyring.MockInit()
	here := true
	s := NewStore(t.TempDir(), Auto)
	s.keyring = func() bool { return here }
	if where := saved(t, s, grantOf("one")); where != Keyring {
		t.Errorf("kept in %s", where)
	}
	loaded(t, s, grantOf("one"))
	if _, err := os.Stat(s.path("notes")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
	here = false // as in a program started without a session
	loaded(t, s, nil)
	if where := saved(t, s, grantOf("two")); where != File {
		t.Errorf("kept in %s", where)
	}
	loaded(t, s, grantOf("two"))
	here = true
	if where := saved(t, s, grantOf("three")); where != Keyring {
		t.Errorf("kept in %s", where)
	}
	if _, err := os.Stat(s.path("notes")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	if err := s.drop("notes"); err != nil {
		t.Fatal(err)
	}
	loaded(t, s, nil)
}

// TestBrokenKeyringFallsBackOnlyInAuto checks that a file takes the place of a broken keyring only
// if the user does not require the keyring, and that a keyring that does not respond is not
// mistaken for an empty one.
func TestBrokenKeyringFallsBackOnlyInAuto(t *testing.T) {
	keyring.MockInitWithError(errors.New("locked"))
	s := NewStore(t.TempDir(), Keyring)
	s.keyring = func() bool { return true }
	unlock, err := s.lock(t.Context(), "notes")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if _, err := s.save("notes", grantOf("one")); err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("got %v, want that it is locked", err)
	}
	for _, kind := range []string{Keyring, Auto} {
		s.kind = kind
		if _, err := s.load("notes"); err == nil || !strings.Contains(err.Error(), "locked") {
			t.Errorf("%s: got %v, want that it is locked", kind, err)
		}
	}
	if where, err := s.save("notes", grantOf("one")); where != File || err != nil {
		t.Errorf("kept in %s, %v", where, err)
	}
	loaded(t, s, grantOf("one"))
}

// TestUnknownServerDoesNotAskKeyring checks that the keyring is not asked for a grant that never
// existed, because it might prompt a person to unlock it.
func TestUnknownServerDoesNotAskKeyring(t *testing.T) {
	s := NewStore(t.TempDir(), Auto)
	s.keyring = func() bool { t.Error("the keyring was asked"); return false }
	loaded(t, s, nil)
}

func TestLock(t *testing.T) {
	s := NewStore(t.TempDir(), File)
	unlock, err := s.lock(t.Context(), "notes")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.lock(ctx, "notes"); err == nil {
		t.Error("two have the lock")
	}
	other, err := s.lock(t.Context(), "others")
	if err != nil {
		t.Error("another grant is locked too")
	}
	other()
	unlock()
	again, err := s.lock(t.Context(), "notes")
	if err != nil {
		t.Fatal(err)
	}
	again()
}
