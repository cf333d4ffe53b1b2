package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/petrigate/petrigate/config"
)

// loadToken reads the bearer token of the listener, or makes one at the first
// start. A file that others can read is refused.
func loadToken(w io.Writer, l config.Listen, addr string) (string, error) {
	path := l.TokenFile
	if path == "" {
		dir, err := stateDir()
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, "token")
	}
	token, err := readToken(path)
	if errors.Is(err, os.ErrNotExist) && l.TokenFile == "" {
		if token, err = makeToken(path); err == nil {
			announceToken(w, token, path, addr)
		}
	}
	if err != nil {
		return "", fmt.Errorf("reading the token for HTTP: %w", err)
	}
	return token, nil
}

func readToken(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s can be read by other users: chmod 600 it", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(b))
	if len(token) < 16 {
		return "", fmt.Errorf("%s holds no token of 16 characters or more", path)
	}
	return token, nil
}

func makeToken(path string) (string, error) {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	token := hex.EncodeToString(b[:])
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintln(f, token)
	return token, errors.Join(err, f.Close())
}

// announceToken prints what a client's configuration needs, once.
func announceToken(w io.Writer, token, path, addr string) {
	_, _ = fmt.Fprintf(w, `A token for clients was made and is kept in %s. Paste this into the client's configuration:

{
  "mcpServers": {
    "petrigate": {
      "type": "http",
      "url": "http://%s/mcp",
      "headers": { "Authorization": "Bearer %s" }
    }
  }
}
`, path, addr, token)
}
