package config

import (
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A Server is one upstream. Its values may be secrets, so it prints only its name.
type Server struct {
	Name     string
	Type     string // "stdio", "http" or "sse"
	Disabled bool
	Timeout  time.Duration // of one call; 0: the proxy's own
	Protocol string        // "auto", "legacy", "2026-07-28"

	Prefix    string // of the exposed names
	HasPrefix bool   // false: the proxy chooses

	Tools     ToolFilter
	Isolation string // "auto", "session", "shared"
	Limits    ServerLimits

	// Of a stdio server. A command with a separator in it is a path as seen
	// from the configuration file; one without is looked up in PATH.
	Command string
	Args    []string
	Env     map[string]string
	Cwd     string

	// Of an HTTP server; sse is that of revision 2024-11-05.
	URL     string
	Headers map[string]string
	TLS     *ServerTLS `json:",omitempty"`
	OAuth   *OAuth     `json:",omitempty"` // nil: not said

	Position Position
	Problems ErrorList `json:",omitempty"` // set by [Servers]; [Load] fails instead
}

// String returns the name of s.
func (s Server) String() string { return s.Name }

// GoString returns the name of s.
func (s Server) GoString() string { return fmt.Sprintf("config.Server(%q)", s.Name) }

// LogValue returns the name of s.
func (s Server) LogValue() slog.Value { return slog.StringValue(s.Name) }

func readServers(d *decoder, to *[]Server) func(key, value *node) {
	return func(key, value *node) {
		d.each(value, quoted(key), func(name, entry *node) {
			*to = append(*to, readServer(d, name, entry))
		})
	}
}

func readServer(d *decoder, name, n *node) Server {
	if name.text == "" || strings.ContainsFunc(name.text, unicode.IsControl) {
		d.at(name, "the name of a server is empty or contains a control character", "")
	}
	s := Server{Name: name.text, Protocol: "auto", Isolation: "auto", Position: d.position(name)}
	var fromFile map[string]string
	known := keys{
		"type":     readServerType(d, &s.Type),
		"command":  d.setting(&s.Command),
		"args":     d.settings(&s.Args),
		"env":      readValues(d, &s.Env, checkVariable),
		"cwd":      d.setting(&s.Cwd),
		"url":      readURL(d, &s.URL),
		"headers":  readValues(d, &s.Headers, checkHeader),
		"oauth":    readOAuth(d, &s.OAuth),
		"timeout":  readTimeout(d, &s.Timeout),
		"prefix":   readPrefix(d, &s),
		"protocol": readChoice(d, &s.Protocol, []string{"auto", "legacy", "2026-07-28"}, nil),
		"disabled": d.flag(&s.Disabled),

		"tools": readToolFilter(d, &s.Tools),

		"isolation": readChoice(d, &s.Isolation, []string{"auto", "session", "shared"}, nil),

		"envFile": readEnvFile(d, &fromFile),
		"tls":     readServerTLS(d, &s.TLS),
		"limits":  readServerLimits(d, &s.Limits),
	}
	for _, key := range clientKeys {
		known[key] = d.ignored
	}
	for key, word := range toolKeys {
		known[key] = readToolList(d, word)
	}
	d.mapping(n, "a server", known)
	if n.kind == mapKind {
		checkAgreement(d, name, n, &s)
	}
	s.joinEnv(fromFile)
	s.Command, s.Cwd = readCommand(d, s.Command), d.absolute(s.Cwd)
	return s
}

// clientKeys are keys that clients write into their own files, for themselves.
var clientKeys = []string{
	"autoApprove", "alwaysAllow", "alwaysLoad", "trust", "description", "gallery", "source", "icon", "icons", "name", "title", "version",
	"initTimeout", "serverInstructions", "startup", "dev",
	"autoStart", "registry", "note", "notes", "comment", "_comment", "$schema",
}

// toolKeys are the names that clients give the tool lists of a server, and our
// keys for them.
var toolKeys = map[string]string{
	"enabledTools": "allow", "enabled_tools": "allow", "includeTools": "allow", "allowedTools": "allow", "allowed_tools": "allow",
	"disabledTools": "deny", "disabled_tools": "deny", "excludeTools": "deny", "exclude_tools": "deny",
}

// readToolList points to our list of tools: a tool that is switched off only in the
// client can still be called.
func readToolList(d *decoder, word string) func(key, value *node) {
	return func(key, value *node) {
		if value.kind == listKind && len(value.items) == 0 {
			d.ignored(key, value)
			return
		}
		d.warn(key, fmt.Sprintf("%q is for a client and has no effect here", key.text), fmt.Sprintf("tools: { %s: [...] } has", word))
	}
}

func (d *decoder) ignored(key, _ *node) {
	d.warn(key, fmt.Sprintf("%q is for a client and has no effect here", key.text), "")
}

// readServerType accepts the names that clients have for streamable HTTP.
func readServerType(d *decoder, to *string) func(key, value *node) {
	return func(key, value *node) {
		if !d.is(value, textKind, quoted(key)) {
			return
		}
		switch text := d.interpolated(value); text {
		case "streamable-http", "streamableHttp", "streamable_http":
			*to = "http"
		default:
			if d.word(key, value, text, []string{"stdio", "http", "sse"}, nil) {
				*to = text
			}
		}
	}
}

// readChoice is like oneOf, and replaces ${...}.
func readChoice(d *decoder, to *string, words, later []string) func(key, value *node) {
	return func(key, value *node) {
		if !d.is(value, textKind, quoted(key)) {
			return
		}
		if text := d.interpolated(value); d.word(key, value, text, words, later) {
			*to = text
		}
	}
}

// readValues reads a mapping of texts: env or headers.
func readValues(d *decoder, to *map[string]string, check func(key, value string) string) func(key, value *node) {
	return func(key, value *node) {
		*to = make(map[string]string, len(value.fields))
		d.each(value, quoted(key), func(k, v *node) {
			if !d.is(v, textKind, "the value of "+quoted(k)) {
				return
			}
			text := d.interpolated(v)
			if msg := check(k.text, text); msg != "" {
				d.at(k, fmt.Sprintf("%s in %s", msg, quoted(key)), "")
			}
			(*to)[k.text] = text
		})
	}
}

func checkVariable(key, _ string) string {
	if key == "" || strings.ContainsAny(key, "=\x00") {
		return fmt.Sprintf("%q is not the name of a variable", key)
	}
	return ""
}

func checkHeader(key, value string) string {
	const token = "!#$%&'*+-.^_`|~"
	letter := func(r rune) bool {
		return r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(token, r))
	}
	switch {
	case key == "" || strings.ContainsFunc(key, func(r rune) bool { return !letter(r) }):
		return fmt.Sprintf("%q is not the name of a header", key)
	case strings.ContainsFunc(value, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }):
		return fmt.Sprintf("the value of %q contains a line end or a control character", key)
	}
	return ""
}

func readURL(d *decoder, to *string) func(key, value *node) {
	return func(key, value *node) {
		d.setting(to)(key, value)
		if value.kind != textKind || *to == "" && value.text != "" {
			return // already named
		}
		// The error of url.Parse quotes the value, which may contain a secret.
		u, err := url.Parse(*to)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			d.at(value, `"url" must be an http or https address`, "")
		}
	}
}

// readTimeout reads a duration, or the milliseconds that clients write.
func readTimeout(d *decoder, to *time.Duration) func(key, value *node) {
	return func(key, value *node) {
		switch value.kind {
		case brokenKind:
			return
		case numberKind:
			ms, err := strconv.ParseInt(value.text, 10, 32)
			if err == nil && ms > 0 && ms < 1000 {
				d.at(value, fmt.Sprintf("%s is in milliseconds, and %d is probably a mistake", quoted(key), ms), fmt.Sprintf("write %ds or %dms", ms, ms))
				return
			}
			if err == nil && ms > 0 {
				*to = time.Duration(ms) * time.Millisecond
				return
			}
		case textKind:
			before := len(d.errs)
			v, ok := duration(d.interpolated(value))
			if ok && v > 0 || len(d.errs) > before {
				*to = v
				return
			}
		}
		d.at(value, quoted(key)+" must be a duration, or a number of milliseconds", "for example 60s")
	}
}

func readPrefix(d *decoder, s *Server) func(key, value *node) {
	return func(key, value *node) {
		d.setting(&s.Prefix)(key, value)
		s.HasPrefix = true
		bad := func(r rune) bool {
			return r >= 0x80 || !(unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-')
		}
		if strings.ContainsFunc(s.Prefix, bad) || len(s.Prefix) > 48 {
			d.at(value, `"prefix" is at most 48 of the characters A-Z a-z 0-9 _ -`, "")
		}
	}
}

// checkAgreement checks that the keys of a server belong together, and fills in its
// type.
func checkAgreement(d *decoder, name, n *node, s *Server) {
	command, address := n.get("command"), n.get("url")
	switch {
	case command != nil && address != nil:
		d.at(address, fmt.Sprintf("server %q has both a command and a url", s.Name), "one of them")
		return
	case command == nil && address == nil:
		d.at(name, fmt.Sprintf("server %q needs a command or a url", s.Name), "")
		return
	case command != nil && command.kind == textKind && command.text == "":
		d.at(command, `"command" is empty`, "")
	}
	kind := map[bool]string{true: "stdio", false: "http"}[command != nil]
	if s.Type == "sse" && kind == "http" {
		kind = "sse"
	}
	if s.Type != "" && s.Type != kind {
		d.at(n.get("type"), fmt.Sprintf("type %s does not fit the other keys, which are those of %s", s.Type, kind), "")
	}
	s.Type = kind
	warnHome(d, n)
	if s.Type == "sse" && s.Protocol != "auto" && s.Protocol != "legacy" {
		d.at(n.get("protocol"), "a server of type sse is of revision 2024-11-05", "leave protocol out")
	}
	checkUniqueHeaders(d, n.get("headers"))
	checkAuthorizedOnce(d, n, s)
	checkSecureOnly(d, n, s)
	overHTTP := []string{"args", "env", "envFile", "cwd"}
	others := map[string][]string{"stdio": {"headers", "oauth", "tls"}, "http": overHTTP, "sse": overHTTP}
	for _, f := range n.fields {
		if slices.Contains(others[kind], f.key.text) {
			d.at(f.key, fmt.Sprintf("%q has no meaning for a server of type %s", f.key.text, kind), "")
		}
	}
}

// warnHome finds text that a shell would replace by the home directory: nothing
// replaces it here, and a server may create a directory of that name.
func warnHome(d *decoder, server *node) {
	for _, key := range []string{"command", "cwd", "args"} {
		values := []*node{server.get(key)}
		if values[0] != nil && values[0].kind == listKind {
			values = values[0].items
		}
		for _, v := range values {
			if v != nil && v.kind == textKind && (v.text == "~" || strings.HasPrefix(v.text, "~/") || strings.HasPrefix(v.text, "$HOME")) {
				d.warn(v, fmt.Sprintf("%q", key)+" is not read by a shell, and the home directory is not filled in", "write ${HOME} for it")
			}
		}
	}
}

// checkUniqueHeaders refuses two spellings of one header: which of them is sent
// would be a matter of chance.
func checkUniqueHeaders(d *decoder, headers *node) {
	if headers == nil {
		return
	}
	seen := make(map[string]string, len(headers.fields))
	for _, f := range headers.fields {
		name := strings.ToLower(f.key.text)
		if first, ok := seen[name]; ok && first != f.key.text {
			d.at(f.key, fmt.Sprintf("%q and %q are one header", first, f.key.text), "")
		}
		seen[name] = f.key.text
	}
}

// readCommand leaves a bare name to PATH.
func readCommand(d *decoder, c string) string {
	if !strings.ContainsRune(c, '/') && !strings.ContainsRune(c, filepath.Separator) {
		return c
	}
	return d.absolute(c)
}

// EnvNames returns the names of the variables that s sets, sorted; unlike the
// values they can be shown.
func (s Server) EnvNames() []string { return slices.Sorted(maps.Keys(s.Env)) }
