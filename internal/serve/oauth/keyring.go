package oauth

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/zalando/go-keyring"
)

// service is what the entries of petrigate in a keyring are called.
const service = "petrigate"

// keyringTimeout bounds the wait for a keyring: one that is locked may ask a
// person, who need not be there.
const keyringTimeout = 20 * time.Second

var (
	errNoKeyring   = errors.New("there is no keyring here")
	errSlowKeyring = errors.New("the keyring does not answer; it may be locked")
)

// keyringHere reports whether asking for a keyring is of any use. Where there
// is no session bus the library would start one.
func keyringHere() bool {
	switch runtime.GOOS {
	case "darwin", "windows":
		return true
	}
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	dir := os.Getenv("XDG_RUNTIME_DIR")
	_, err := os.Stat(filepath.Join(dir, "bus"))
	return filepath.IsAbs(dir) && err == nil
}

// inKeyring runs f, which asks the keyring.
func inKeyring(here func() bool, f func() (string, error)) (string, error) {
	if !here() {
		return "", errNoKeyring
	}
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := f()
		answers <- answer{text, err}
	}()
	timer := time.NewTimer(keyringTimeout)
	defer timer.Stop()
	select {
	case a := <-answers:
		return a.text, a.err
	case <-timer.C:
		return "", errSlowKeyring
	}
}

func (s *Store) fromKeyring(key string) ([]byte, error) {
	text, err := inKeyring(s.keyring, func() (string, error) { return keyring.Get(service, key) })
	if errors.Is(err, keyring.ErrNotFound) {
		return nil, os.ErrNotExist
	}
	return []byte(text), err
}

func (s *Store) toKeyring(key string, data []byte) error {
	_, err := inKeyring(s.keyring, func() (string, error) { return "", keyring.Set(service, key, string(data)) })
	return err
}

func (s *Store) dropFromKeyring(key string) error {
	_, err := inKeyring(s.keyring, func() (string, error) { return "", keyring.Delete(service, key) })
	if errors.Is(err, keyring.ErrNotFound) || errors.Is(err, errNoKeyring) {
		return nil
	}
	return err
}
