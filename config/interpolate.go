package config

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// An environment resolves ${...} and file paths.
type environment struct {
	dir    string // directory of the configuration file, as the base for relative paths
	lookup func(string) (string, bool)

	unsaved func(path string) ([]byte, bool) // returns unsaved text, like [Options.Unsaved]; may be nil

	// closed reports whether ${...} and references to other files are errors. It is true for a base
	// policy, which must have the same meaning on every machine.
	closed bool

	// text is true if the file is read as plain text. Each ${...} and each environment file is then
	// recorded in references instead of being resolved.
	text       bool
	references []string
	skipped    int // number of unresolved references, including repeated ones

	secrets []string          // values that replaced a ${...}, and the secrets and URLs of approval channels
	targets []string          // URLs or names of the systems that receive approval requests; see [Config.Targets]
	sums    map[string]string // checksums of the files that were read; see [Config.Sums]
}

// A badExpr describes a ${...} that cannot be resolved. Its messages do not contain the values of
// variables and files.
type badExpr struct{ expr, msg, hint string }

// interpolation matches $$ and ${...}, even if the closing brace is missing.
var interpolation = regexp.MustCompile(`\$\$|\$\{[^}]*\}?`)

func (e *environment) expand(text string) (expanded string, bad *badExpr) {
	expanded = interpolation.ReplaceAllStringFunc(text, func(expr string) (value string) {
		switch {
		case bad != nil:
		case expr == "$$":
			return "$"
		case !strings.HasSuffix(expr, "}"):
			bad = &badExpr{"${", "${ is never closed", "write $$ for a $ before {"}
		default:
			value, bad = e.value(expr)
		}
		return value
	})
	if bad != nil {
		return "", bad
	}
	return expanded, nil
}

var variable = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)(?:(:-|:\?)(.*))?$`)

// value returns the value that replaces a ${...}.
func (e *environment) value(expr string) (string, *badExpr) {
	if e.closed {
		return "", &badExpr{expr, "a base policy must be the same everywhere, but " + expr + " is not", "write the value"}
	}
	inner := expr[2 : len(expr)-1]
	if strings.Contains(inner, "${") {
		return "", &badExpr{expr, "nested ${...} is not supported", ""}
	}
	if path, ok := strings.CutPrefix(inner, "file:"); ok {
		if e.text {
			return e.skip(expr), nil
		}
		value, bad := e.file(expr, path)
		e.recordSecret("", value)
		return value, bad
	}
	m := variable.FindStringSubmatch(strings.TrimPrefix(inner, "env:"))
	if m == nil {
		return "", &badExpr{expr, fmt.Sprintf("unknown expression %q", expr), "${V}, ${env:V}, ${V:-default}, ${V:?message}, ${file:path}"}
	}
	if e.text {
		return e.skip(expr), nil
	}
	name, operator, word := m[1], m[2], m[3]
	value, ok := e.lookup(name)
	switch {
	case operator == "" && !ok:
		return "", &badExpr{expr, fmt.Sprintf("the variable %s is not set", name), fmt.Sprintf("set it, or write ${%s:-default}", name)}
	case operator == ":?" && value == "":
		if word == "" {
			word = "it is required"
		}
		return "", &badExpr{expr, fmt.Sprintf("the variable %s is not set: %s", name, word), ""}
	case operator == ":-" && value == "":
		return word, nil
	}
	e.recordSecret(name, value)
	return value, nil
}

// skip records a reference that is not looked up, and returns it unchanged.
func (e *environment) skip(ref string) string {
	e.skipped++
	if !slices.Contains(e.references, ref) {
		e.references = append(e.references, ref)
	}
	return ref
}

const maxSecret = 1 << 20

// file returns the contents of a file without its final newline.
func (e *environment) file(expr, path string) (string, *badExpr) {
	if path == "" {
		return "", &badExpr{expr, "${file:} names no file", ""}
	}
	data, err := readFile(e.path(path), maxSecret)
	if err != nil {
		return "", &badExpr{expr, fmt.Sprintf("reading the file of %s: %v", expr, cause(err)), ""}
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), nil
}

// path returns the path of the configured file p, both for opening the file and for naming it in
// messages. A relative p is joined to the directory of the configuration file.
func (e *environment) path(p string) string {
	if p == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(e.dir, p)
}

// absolute is like path but returns an absolute path. This matters most for commands, because a
// relative path would be looked up in PATH, or relative to the working directory of the server.
func (e *environment) absolute(p string) string {
	if p == "" || e.text && strings.Contains(p, "${") {
		return p
	}
	p = e.path(p)
	if abs, err := filepath.Abs(p); err == nil {
		return abs
	}
	return p
}

// minSecret is the minimum length of a value that counts as a secret. Shorter values would occur in
// almost any text.
const minSecret = 6

// nonSecretVariables lists environment variables with values that are not secret. It is read-only.
var nonSecretVariables = []string{"HOME", "USER", "LOGNAME", "PWD", "PATH", "SHELL", "LANG", "TERM", "TMPDIR", "HOSTNAME", "XDG_RUNTIME_DIR"}

// recordSecret records the resolved value of a ${...} as a secret.
func (e *environment) recordSecret(name, value string) {
	if !strings.HasPrefix(value, "/") && !slices.Contains(nonSecretVariables, name) {
		e.addSecret(value)
	}
}

// addTarget records the URL of a system that receives approval requests, or the system's name if
// the URL is unknown. A URL with a path or a query is also recorded as a secret, because it often
// contains one.
func (e *environment) addTarget(target, name string) {
	e.targets = append(e.targets, cmp.Or(target, name))
	if u, err := url.Parse(target); err == nil && len(u.RequestURI()) > 1 {
		e.addSecret(target)
	}
}

func (e *environment) addSecret(value string) {
	if len(value) >= minSecret && !slices.Contains(e.secrets, value) {
		e.secrets = append(e.secrets, value)
	}
}
