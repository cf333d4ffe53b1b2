package config

import (
	"regexp"
	"strings"

	"github.com/petrigate/petrigate/internal/diag"
)

// excerpt returns the line with a caret under the column, and stars in place of
// values that may be secrets. It returns "" for a blank line.
func (s *source) excerpt(line, column int) string {
	if line < 1 || line > len(s.lines) {
		return ""
	}
	text := s.lines[line-1]
	if strings.TrimSpace(text) == "" || s.guess && suspicious.MatchString(text) {
		return ""
	}
	shown := s.masked(line, []rune(text))
	return diag.Excerpt(string(shown), min(column, len(shown)+1), 1)
}

// suspicious finds lines that may contain a secret, in a file without a tree.
var suspicious = regexp.MustCompile(`(?i)token|secret|passw|authorization|bearer|credential|key`)

// masked replaces the parts of secrets on this line with stars.
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

// markSecrets records the positions of the values of env, of headers, of the secret of
// a client, and of a mapping under an unknown key of a server: it may be one of them,
// misspelt.
func (s *source) markSecrets(root *node) {
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
					s.secret(f.value) // a name and a password
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
	case !reference.MatchString(n.text):
		s.secrets = append(s.secrets, n)
	}
}

// reference finds values that name a secret but do not contain it.
var reference = regexp.MustCompile(`^\$\{(env:)?[A-Za-z0-9_]+\}$`)
