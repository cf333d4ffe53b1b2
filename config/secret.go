package config

import (
	"regexp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/diag"
)

// nonSecretVariables lists environment variables whose values are not secrets. Read-only.
var nonSecretVariables = []string{"HOME", "USER", "LOGNAME", "PWD", "PATH", "SHELL", "LANG", "TERM", "TMPDIR", "HOSTNAME", "XDG_RUNTIME_DIR"}

// minSecret is the minimum length of a secret: shorter values would occur in any text.
const minSecret = 6

// recordSecret records the resolved value of a ${...} as a secret.
func (e *environment) recordSecret(name, value string) {
	if len(value) >= minSecret && !strings.HasPrefix(value, "/") && !slices.Contains(nonSecretVariables, name) && !slices.Contains(e.secrets, value) {
		e.secrets = append(e.secrets, value)
	}
}

// Secrets returns the values that must not be logged: values of ${...} and of headers, variables
// with the name of a secret, the connection string of the database, the client secrets of OAuth,
// and the secret and URL of the webhook. Longer values come first.
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
	for _, value := range append(c.State.secrets(), c.Approval.Webhook.secrets()...) {
		add(value)
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
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // a secret before its substrings
	return secrets
}

// secretName reports whether the name of a variable suggests a secret.
func secretName(name string) bool {
	return slices.ContainsFunc([]string{"TOKEN", "SECRET", "KEY", "PASS", "PWD", "CRED", "AUTH"}, func(word string) bool {
		return strings.Contains(strings.ToUpper(name), word)
	})
}

// excerpt returns the source line with a caret under the column, and stars in place of values that
// may be secrets. It returns "" for a blank line.
func (s *source) excerpt(line, column int) string {
	if line < 1 || line > len(s.lines) {
		return ""
	}
	text := s.lines[line-1]
	if strings.TrimSpace(text) == "" || s.guessSecrets && suspicious.MatchString(text) {
		return ""
	}
	shown := s.masked(line, []rune(text))
	return diag.Excerpt(string(shown), min(column, len(shown)+1), 1)
}

// suspicious matches lines that may contain a secret, for files that could not be parsed into a
// tree.
var suspicious = regexp.MustCompile(`(?i)token|secret|passw|authorization|bearer|credential|key`)

// masked replaces the secrets on this line with stars.
func (s *source) masked(line int, text []rune) []rune {
	for _, n := range s.secrets {
		if line < n.line || line > n.endLine {
			continue
		}
		from, to := 0, len(text)
		if line == n.line {
			from = min(n.column-1, to)
		}
		if line == n.endLine {
			to = min(n.endColumn-1, to)
		}
		for i := from; i < to; i++ {
			text[i] = '*'
		}
	}
	return text
}

// markSecrets records the positions of values that may be secrets: env, headers, the secret of an
// OAuth client or webhook, the PIN, a connection string, and any mapping under an unknown key of a
// server, which may be a misspelt "env" or "headers".
func (s *source) markSecrets(root *node) {
	if state := root.get("state"); state != nil {
		for _, f := range state.fields {
			if f.value.kind == textKind && (f.key.text == "dsn" || strings.ContainsAny(f.value.text, "@=")) {
				s.secret(f.value)
			}
		}
	}
	if approval := root.get("approval"); approval != nil {
		s.secret(approval.get("pin"))
		if hook := approval.get("webhook"); hook != nil {
			s.secret(hook.get("secret"))
		}
	}
	servers := root.get("mcpServers")
	if servers == nil {
		return
	}
	for _, server := range servers.fields {
		for _, f := range server.value.fields {
			switch f.key.text {
			case "tls", "limits", "tools":
			case "oauth":
				s.secret(f.value.get("clientSecret"))
			case "url":
				if strings.Contains(f.value.text, "@") {
					s.secret(f.value) // user and password
				}
			case "env", "headers":
				s.secret(f.value)
			default:
				if f.value.kind == mapKind {
					s.secret(f.value)
				}
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

// variableOnly matches a value that is only a reference to a variable, and so does not contain the
// secret.
var variableOnly = regexp.MustCompile(`^\$\{(env:)?[A-Za-z0-9_]+\}$`)
