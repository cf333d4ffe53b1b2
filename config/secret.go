package config

import (
	"slices"
	"strings"
)

// ordinary are variables whose values are not secrets.
var ordinary = []string{"HOME", "USER", "LOGNAME", "PWD", "PATH", "SHELL", "LANG", "TERM", "TMPDIR", "HOSTNAME", "XDG_RUNTIME_DIR"}

// shortestSecret is the minimum length of a secret: a shorter value would be found
// in any text.
const shortestSecret = 6

// resolved records the value of a ${...}.
func (e *environment) resolved(name, value string) {
	if len(value) >= shortestSecret && !strings.HasPrefix(value, "/") && !slices.Contains(ordinary, name) && !slices.Contains(e.secrets, value) {
		e.secrets = append(e.secrets, value)
	}
}

// Secrets returns the values of ${...}, of headers, and of variables with the name
// of a secret. They must not reach a log.
func (c *Config) Secrets() []string {
	var secrets []string
	if c.secrets != nil {
		secrets = c.secrets()
	}
	add := func(value string) {
		if len(value) >= shortestSecret && !slices.Contains(secrets, value) {
			secrets = append(secrets, value)
		}
	}
	for _, s := range c.Servers {
		for _, value := range s.Headers {
			add(value)
			_, credential, _ := strings.Cut(value, " ") // of "Bearer x"
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
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // the whole before its part
	return secrets
}

// secretName reports whether a variable has the name of a secret.
func secretName(name string) bool {
	return slices.ContainsFunc([]string{"TOKEN", "SECRET", "KEY", "PASS", "PWD", "CRED", "AUTH"}, func(word string) bool {
		return strings.Contains(strings.ToUpper(name), word)
	})
}
