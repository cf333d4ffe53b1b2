package oauth

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/zalando/go-keyring"
)

// service is the service name of petrigate's entries in the keyring.
const service = "petrigate"

// keyringTimeout limits the wait for a keyring: a locked keyring may wait for a person who is not
// there.
const keyringTimeout = 20 * time.Second

var (
	errNoKeyring   = errors.New("there is no keyring on this system")
	errSlowKeyring = errors.New("the keyring does not respond; it could be locked")
)

// keyringAvailable reports whether a keyring can exist. Without a session bus it does not, and the
// library would start a bus.
func keyringAvailable() bool {
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

// inKeyring runs f, which calls the keyring. Its error is os.ErrNotExist if the entry does not
// exist.
func (s *Store) inKeyring(f func() (string, error)) ([]byte, error) {
	if !s.keyring() {
		return nil, errNoKeyring
	}
	var text string
	var err error
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		text, err = f()
	}()
	select {
	case <-answered:
	case <-time.After(keyringTimeout):
		return nil, errSlowKeyring
	}
	if errors.Is(err, keyring.ErrNotFound) {
		err = os.ErrNotExist
	}
	return []byte(text), err
}

func (s *Store) dropFromKeyring(key string) error {
	_, err := s.inKeyring(func() (string, error) { return "", keyring.Delete(service, key) })
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, errNoKeyring) {
		return nil
	}
	return err
}
