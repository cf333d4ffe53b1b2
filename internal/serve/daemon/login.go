package daemon

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/serve/oauth"
)

// Unnamed is the server name that petrigate wrap and petrigate login use if none is given.
const Unnamed = "server"

// needsTokens reports whether petrigate must obtain tokens for the server. All HTTP servers need
// them, except those whose configuration sets the Authorization header or disables OAuth.
func needsTokens(s config.Server) bool {
	return s.URL != "" && !setsAuthorization(s) && (s.OAuth == nil || !s.OAuth.Disabled)
}

// setsAuthorization reports whether the server's configuration sets the Authorization header.
func setsAuthorization(s config.Server) bool {
	for name := range s.Headers {
		if strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	return false
}

// CheckLogin returns an error if petrigate does not use a login for the server, or if the server's
// configuration has problems. It checks for problems last, because they do not matter if no login
// is used.
func CheckLogin(s config.Server) error {
	switch {
	case s.Type == "stdio":
		return fmt.Errorf("%s is a command: petrigate logs in to servers over HTTP", s.Name)
	case s.OAuth != nil && s.OAuth.Disabled:
		return fmt.Errorf("the configuration of %s says oauth: false", s.Name)
	case setsAuthorization(s):
		return fmt.Errorf("the configuration of %s has a header Authorization, which is used instead of a login", s.Name)
	case s.OAuth != nil && s.OAuth.Grant == oauth.ClientCredentials:
		return fmt.Errorf("%s needs no login: petrigate gets its tokens with the client's own secret", s.Name)
	case len(s.Problems) > 0:
		return s.Problems
	}
	return nil
}

// OAuthServer returns the OAuth settings in a server's configuration as an [oauth.Server].
func OAuthServer(s config.Server) oauth.Server {
	a := oauth.Server{Name: s.Name, URL: s.URL, Headers: s.Headers}
	if o := s.OAuth; o != nil {
		a.Grant, a.ClientID, a.ClientSecret, a.Scopes, a.Issuer = o.Grant, o.ClientID, o.ClientSecret, o.Scopes, o.Issuer
	}
	return a
}

// TokenStore returns the store for the server's tokens.
func TokenStore(s config.Server) (*oauth.Store, error) {
	dir, err := StateDir()
	if err != nil {
		return nil, err
	}
	kind := oauth.Auto
	if s.OAuth != nil {
		kind = s.OAuth.Store
	}
	return oauth.NewStore(filepath.Join(dir, "oauth"), kind), nil
}

// tokenSource returns the source of the server's tokens, or nil if petrigate does not obtain any.
func tokenSource(c *config.Config, s config.Server, log *slog.Logger) (*oauth.Source, error) {
	if !needsTokens(s) {
		return nil, nil
	}
	store, err := TokenStore(s)
	if err != nil && s.OAuth == nil { // the configuration does not mention OAuth, so a missing store is not an error
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return oauth.NewSource(OAuthServer(s), store, oauth.Options{Logger: log, Command: loginCommand(c, s)}), nil
}

// loginCommand returns the command that a user must run to log in to the server. If the server's
// address may contain a secret, the command contains a placeholder in place of the address.
func loginCommand(c *config.Config, s config.Server) string {
	words := []string{"petrigate", "login"}
	if c.File == "" { // without a configuration file, the proxy was started by petrigate wrap
		address, query, _ := strings.Cut(s.URL, "?")
		if query != "" || strings.Contains(address, "@") {
			address = "ADDRESS"
		}
		words = append(words, "--url", address)
		if s.Name != Unnamed {
			words = append(words, "--name", s.Name)
		}
		return commandLine(words)
	}
	usual, _, err := config.Lookup(config.Options{Env: withoutConfig})
	if file, _ := filepath.Abs(c.File); err != nil || usual != file {
		words = append(words, "--config", file)
	}
	return commandLine(append(words, s.Name))
}

// withoutConfig is like [os.LookupEnv], but acts as if PETRIGATE_CONFIG were not set.
func withoutConfig(name string) (string, bool) {
	if name == "PETRIGATE_CONFIG" {
		return "", false
	}
	return os.LookupEnv(name)
}

// commandLine quotes the words for a shell and joins them.
func commandLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if word == "" || strings.ContainsFunc(word, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+=,", r))
		}) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
