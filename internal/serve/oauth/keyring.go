package oauth

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/zalando/go-keyring"
)

// service is the service name of petrigate's keyring entries.
const service = "petrigate"

// keyringTimeout limits the wait for the keyring, because a locked keyring may show a prompt while
// no one is there to answer it.
const keyringTimeout = 20 * time.Second

var (
	errNoKeyring   = errors.New("there is no keyring on this system")
	errSlowKeyring = errors.New("the keyring does not respond; it could be locked")
)

// keyringAvailable reports whether a keyring may be available. On systems that use D-Bus, it
// returns true only if a session bus seems to be running, because the keyring library would
// otherwise start one.
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

// callKeyring returns the result of f, which must access one entry of the keyring. If the entry
// does not exist, callKeyring returns os.ErrNotExist. If f takes longer than keyringTimeout,
// callKeyring returns errSlowKeyring without waiting for f.
func (s *Store) callKeyring(f func() (string, error)) ([]byte, error) {
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
	_, err := s.callKeyring(func() (string, error) { return "", keyring.Delete(service, key) })
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, errNoKeyring) {
		return nil
	}
	return err
}
