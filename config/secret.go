package config

import (
	"slices"
	"strings"
)

// ordinary are variables whose values are no secrets.
var ordinary = []string{"HOME", "USER", "LOGNAME", "PWD", "PATH", "SHELL", "LANG", "TERM", "TMPDIR", "HOSTNAME", "XDG_RUNTIME_DIR"}

// shortestSecret is how long a value has to be before it is taken for one: a
// shorter one would be found in anything.
const shortestSecret = 6

// resolved notes what a ${...} was replaced by.
func (e *environment) resolved(name, value string) {
	if len(value) >= shortestSecret && !strings.HasPrefix(value, "/") && !slices.Contains(ordinary, name) && !slices.Contains(e.secrets, value) {
		e.secrets = append(e.secrets, value)
	}
}

// Secrets are the values that ${...} was replaced by, and those of headers and
// of variables that are called so: texts that must reach no log.
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

// secretName reports whether a variable is called like one that holds a secret.
func secretName(name string) bool {
	return slices.ContainsFunc([]string{"TOKEN", "SECRET", "KEY", "PASS", "PWD", "CRED", "AUTH"}, func(word string) bool {
		return strings.Contains(strings.ToUpper(name), word)
	})
}
