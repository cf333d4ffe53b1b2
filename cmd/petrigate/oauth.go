package main

import (
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/serve/oauth"
)

// wantsTokens reports whether petrigate gets the tokens of a server: of each
// over HTTP, unless its configuration has them or will have none.
func wantsTokens(s config.Server) bool {
	return s.URL != "" && !bringsTokens(s) && (s.OAuth == nil || !s.OAuth.Disabled)
}

// bringsTokens reports whether the configuration of a server has them.
func bringsTokens(s config.Server) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(s.Headers)), func(name string) bool {
		return strings.EqualFold(name, "Authorization")
	})
}

// authorized is a server as the package of tokens knows it.
func authorized(s config.Server) oauth.Server {
	a := oauth.Server{Name: s.Name, URL: s.URL, Headers: s.Headers}
	if o := s.OAuth; o != nil {
		a.Grant, a.ClientID, a.ClientSecret, a.Scopes, a.Issuer = o.Grant, o.ClientID, o.ClientSecret, o.Scopes, o.Issuer
	}
	return a
}

// storeOf is where the tokens of a server are.
func storeOf(s config.Server) (*oauth.Store, error) {
	dir, err := stateDir()
	if err != nil {
		return nil, err
	}
	kind := oauth.Auto
	if s.OAuth != nil {
		kind = s.OAuth.Store
	}
	return oauth.NewStore(filepath.Join(dir, "oauth"), kind), nil
}

// sourceOf is the tokens of a server for a proxy; nil: it gets none.
func sourceOf(c *config.Config, s config.Server, log *slog.Logger) (*oauth.Source, error) {
	if !wantsTokens(s) {
		return nil, nil
	}
	store, err := storeOf(s)
	if err != nil && s.OAuth == nil { // nobody said that there would be any
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return oauth.NewSource(authorized(s), store, oauth.Options{Logger: log, Command: loginCommand(c, s)}), nil
}

// loginCommand is what a person types to log in to a server of c. What stands
// in the address after ? may be a secret.
func loginCommand(c *config.Config, s config.Server) string {
	words := []string{"petrigate", "login"}
	if c.File == "" { // of wrap
		address, query, _ := strings.Cut(s.URL, "?")
		if query != "" || strings.Contains(address, "@") {
			address = "ADDRESS"
		}
		words = append(words, "--url", address)
		if s.Name != unnamed {
			words = append(words, "--name", s.Name)
		}
		return commandLine(words)
	}
	usual, err := config.Lookup(config.Options{Env: withoutConfig})
	if file, _ := filepath.Abs(c.File); err != nil || usual != file {
		words = append(words, "--config", file)
	}
	return commandLine(append(words, s.Name))
}
