package daemon

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/text"
)

// minTokenLength is the minimum length of a token. Shorter tokens could be guessed.
const minTokenLength = 16

// loadTokens reads the bearer tokens that clients of the listener must present. If the file at the
// default path does not exist, it creates a token and passes it to onCreate. It returns an error if
// other users can read or change the token file.
func loadTokens(l config.Listen, onCreate func(token, path string)) (tokens, error) {
	path, err := tokenPath(l)
	if err != nil {
		return tokens{}, fmt.Errorf("%w, or listen.tokenFile", err)
	}
	t, err := readTokens(path)
	if errors.Is(err, os.ErrNotExist) && l.TokenFile == "" {
		if t.unnamed, err = makeToken(path); err != nil {
			return tokens{}, fmt.Errorf("storing a token for HTTP in %s: %w; set listen.tokenFile, or XDG_STATE_HOME", filepath.Dir(path), text.Innermost(err))
		}
		onCreate(t.unnamed, path)
	}
	if err != nil {
		return tokens{}, fmt.Errorf("reading the token for HTTP: %w", err)
	}
	return t, nil
}

// tokenPath returns the configured path of the token file or, by default, a path in the state
// directory.
func tokenPath(l config.Listen) (string, error) {
	if l.TokenFile != "" {
		return l.TokenFile, nil
	}
	dir, err := StateDir()
	return filepath.Join(dir, "token"), err
}

// tokens holds the content of a token file: either a single token, or several tokens keyed by the
// names of their holders.
type tokens struct {
	unnamed string
	named   map[string]string
}

func readTokens(path string) (tokens, error) {
	info, err := os.Stat(path)
	if err != nil {
		return tokens{}, err
	}
	if hasModes && exposed(info.Mode(), ownedByRoot(info)) {
		mode := info.Mode().Perm()
		return tokens{}, fmt.Errorf("other users can read or change %s (mode %04o): chmod %04o %s", path, mode, mode&^forbidden(ownedByRoot(info)), path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return tokens{}, err
	}
	return parseTokens(path, string(b))
}

// exposed reports whether a file with the given mode can be read or written by users who must not
// access it; see [forbidden].
func exposed(mode os.FileMode, ofRoot bool) bool { return mode.Perm()&forbidden(ofRoot) != 0 }

// forbidden returns the mode bits that would let other users access a file. If root owns the file
// and this process runs as another user, the file's group may read the file: Kubernetes Secrets and
// systemd credentials are provided in this way.
func forbidden(ofRoot bool) os.FileMode {
	if ofRoot {
		return 0o037
	}
	return 0o077
}

// ForbiddenOfTokens returns the mode bits that would let other users access the token file.
func ForbiddenOfTokens(info os.FileInfo) os.FileMode { return forbidden(ownedByRoot(info)) }

// parseTokens parses either a single token or lines of the form "name: token". Comments begin with
// #. Error messages never include any part of a token.
func parseTokens(path, text string) (tokens, error) {
	t := tokens{named: map[string]string{}}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, token, named := strings.Cut(line, ": ")
		if !named {
			name, token = "", line
		}
		token = strings.TrimSpace(token)
		switch _, twice := t.named[name]; {
		case twice:
			return tokens{}, fmt.Errorf("%s:%d: this name already has a token", path, i+1)
		case named && name == "":
			return tokens{}, fmt.Errorf("%s:%d: the token has no name before its colon", path, i+1)
		case strings.ContainsFunc(token, unicode.IsSpace):
			return tokens{}, fmt.Errorf("%s:%d: a token cannot contain a space; to give it a name, write name: token", path, i+1)
		case len(token) < minTokenLength:
			return tokens{}, fmt.Errorf("%s:%d contains no token of %d characters or more", path, i+1, minTokenLength)
		case !named && t.unnamed != "":
			return tokens{}, fmt.Errorf("%s:%d: several tokens need names: write name: token", path, i+1)
		case !named:
			t.unnamed = token
		default:
			t.named[name] = token
		}
	}
	if t.unnamed == "" && len(t.named) == 0 {
		return tokens{}, fmt.Errorf("%s contains no token of %d characters or more", path, minTokenLength)
	}
	return t, nil
}

func makeToken(path string) (string, error) {
	var b [32]byte
	_, _ = rand.Read(b[:]) // rand.Read never returns an error
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

// reportToken reports that a token was created. It prints the token only if terminal is not nil,
// because logs, files and journals must not contain secrets.
func (d *Daemon) reportToken(terminal io.Writer, token, path, endpoint string) {
	if terminal == nil {
		d.log.Info("a token for clients was created", "file", path)
		return
	}
	announceToken(terminal, token, path, endpoint)
}

// announceToken prints a configuration entry with the token, for the user to paste into a client's
// configuration. The token is not printed again.
func announceToken(w io.Writer, token, path, endpoint string) {
	_, _ = fmt.Fprintf(w, `A token for clients was created and stored in %s. Paste this into the client's configuration:

{
  "mcpServers": {
    "petrigate": {
      "type": "http",
      "url": "%s",
      "headers": { "Authorization": "Bearer %s" }
    }
  }
}
`, path, endpoint, token)
}
