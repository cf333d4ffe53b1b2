package config

import (
	"regexp"
	"slices"
	"strings"
)

// Secrets returns the values that must not be logged, longest first. They come from references such
// as ${env:NAME}, environment files, headers, server variables with names that suggest a secret,
// the database's connection string, OAuth clients and approval channels. Secrets leaves out values
// shorter than 6 bytes. It also leaves out a value from a reference or an environment file in two
// cases: the value begins with a slash, or it belongs to a well-known variable such as HOME.
func (c *Config) Secrets() []string {
	var secrets []string
	if c.secrets != nil {
		secrets = c.secrets()
	}
	add := func(value string) {
		if len(value) >= minSecret && !slices.Contains(secrets, value) {
			secrets = append(secrets, value)
		}
	}
	for _, value := range c.State.secrets() {
		add(value)
	}
	for _, s := range c.Servers {
		for _, value := range s.Headers {
			add(value)
			_, credential, _ := strings.Cut(value, " ") // the token in a header such as "Bearer x" is a secret by itself
			add(credential)
		}
		if s.OAuth != nil {
			add(s.OAuth.ClientSecret)
		}
		for name, value := range s.Env {
			if secretName(name) {
				add(value)
			}
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // a secret must be replaced before its substrings
	return secrets
}

// secretName reports whether a variable's name suggests that its value is a secret.
func secretName(name string) bool {
	return slices.ContainsFunc([]string{"TOKEN", "SECRET", "KEY", "PASS", "PWD", "CRED", "AUTH"}, func(word string) bool {
		return strings.Contains(strings.ToUpper(name), word)
	})
}

// markSecrets records the positions of values that may be secret: env, headers, the secret of an
// OAuth client or channel, the PIN, and a connection string. It also records every mapping under an
// unknown key of a server, which may be a misspelled "env" or "headers".
func (s *source) markSecrets(root *node) {
	for _, f := range root.get("state").entries() {
		if f.value.kind == textKind && (f.key.text == "dsn" || strings.ContainsAny(f.value.text, "@=")) {
			s.secret(f.value)
		}
	}
	approval := root.get("approval")
	s.secret(approval.get("pin"))
	for _, f := range approval.entries() { // entries that configure a channel may contain a secret
		s.secret(f.value.get("secret"))
	}
	for _, server := range root.get("mcpServers").entries() {
		for _, f := range server.value.fields {
			switch key := f.key.text; {
			case key == "tls" || key == "limits" || key == "tools":
			case key == "oauth":
				s.secret(f.value.get("clientSecret"))
			case key == "url" && !strings.Contains(f.value.text, "@"): // without an @, the URL contains no password
			case key == "url" || key == "env" || key == "headers" || f.value.kind == mapKind:
				s.secret(f.value)
			}
		}
	}
}

func (s *source) secret(n *node) {
	switch {
	case n == nil || n.kind == nullKind:
	case n.kind == listKind:
		for _, item := range n.items {
			s.secret(item)
		}
	case n.kind == mapKind:
		for _, f := range n.fields {
			s.secret(f.value)
		}
	case !variableOnly.MatchString(n.text):
		s.secrets = append(s.secrets, n)
	}
}

// variableOnly matches a value that consists only of a reference to a variable. Such a value does
// not contain the secret itself.
var variableOnly = regexp.MustCompile(`^\$\{(env:)?[A-Za-z0-9_]+\}$`)
