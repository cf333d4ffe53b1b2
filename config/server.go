package config

import (
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A Server is an upstream server. Its values may be secret, so formatting a Server shows only its
// name.
type Server struct {
	Name     string
	Type     string // transport: "stdio", "http" or "sse"
	Disabled bool
	Timeout  time.Duration // time limit for each call; 0 means the proxy's default
	Protocol string        // protocol to speak: "auto", "legacy" or "2026-07-28"

	Prefix    string // prefix of the tool names that clients see
	HasPrefix bool   // whether Prefix was set; otherwise, the proxy chooses a prefix

	Tools     ToolFilter
	Isolation string // how sessions share instances of the server: "auto", "session" or "shared"
	Limits    ServerLimits

	// Fields for stdio servers. A command that contains a path separator is relative to the
	// configuration file. Any other command is looked up in PATH.
	Command string
	Args    []string
	Env     map[string]string
	Cwd     string

	// Fields for HTTP servers. "sse" is the transport of protocol revision 2024-11-05.
	URL     string
	Headers map[string]string
	TLS     *ServerTLS `json:",omitempty"`
	OAuth   *OAuth     `json:",omitempty"` // settings for obtaining OAuth tokens; nil if not set

	Position Position
	Problems ErrorList `json:",omitempty"` // problems with the server; set only by [Servers], because [Load] returns them as an error
}

// String returns the server's name.
func (s Server) String() string { return s.Name }

// GoString returns a string that contains only the server's name.
func (s Server) GoString() string { return fmt.Sprintf("config.Server(%q)", s.Name) }

// LogValue returns only the server's name.
func (s Server) LogValue() slog.Value { return slog.StringValue(s.Name) }

func readServer(v Value) Server {
	v = v.named("a server")
	s := Server{Name: v.key.text, Protocol: "auto", Isolation: "auto", Position: v.position(v.key)}
	if s.Name == "" || strings.ContainsFunc(s.Name, unicode.IsControl) {
		v.faultAt(v.key, "the name of a server is empty or contains a control character", "")
	}
	var fromFile map[string]string
	known := Keys{
		"type":      into(&s.Type, readServerType),
		"command":   into(&s.Command, Value.setting),
		"args":      into(&s.Args, listOf(Value.setting)),
		"env":       into(&s.Env, values(checkVariable)),
		"envFile":   into(&fromFile, readEnvFile),
		"cwd":       into(&s.Cwd, Value.setting),
		"url":       into(&s.URL, checked(checkURL)),
		"headers":   into(&s.Headers, values(checkHeader)),
		"oauth":     into(&s.OAuth, readOAuth),
		"tls":       into(&s.TLS, readServerTLS),
		"timeout":   into(&s.Timeout, readCallTimeout),
		"prefix":    into(&s.Prefix, checked(checkPrefix)),
		"protocol":  into(&s.Protocol, checked(checkWord([]string{"auto", "legacy", "2026-07-28"}))),
		"isolation": into(&s.Isolation, checked(checkWord([]string{"auto", "session", "shared"}))),
		"disabled":  into(&s.Disabled, Value.Flag),
		"tools":     into(&s.Tools, readToolFilter),
		"limits":    into(&s.Limits, readServerLimits),
	}
	for _, key := range clientKeys {
		known[key] = Value.ignored
	}
	for key, word := range toolKeys {
		known[key] = readToolList(word)
	}
	v.Fields(known)
	if v.kind == mapKind {
		checkAgreement(v, &s)
	}
	s.HasPrefix = v.get("prefix") != nil
	if fromFile != nil {
		maps.Copy(fromFile, s.Env)
		s.Env = fromFile
	}
	if strings.ContainsRune(s.Command, '/') || strings.ContainsRune(s.Command, filepath.Separator) {
		s.Command = v.absolute(s.Command)
	}
	s.Cwd = v.absolute(s.Cwd)
	return s
}

// clientKeys lists keys of a server that only clients use and that petrigate ignores. It is
// read-only.
var clientKeys = []string{
	"autoApprove", "alwaysAllow", "alwaysLoad", "trust", "description", "gallery", "source", "icon", "icons", "name", "title", "version",
	"initTimeout", "serverInstructions", "startup", "dev",
	"autoStart", "registry", "note", "notes", "comment", "_comment", "$schema",
}

// toolKeys maps clients' names for a server's tool lists to petrigate's own keys. It is read-only.
var toolKeys = map[string]string{
	"enabledTools": "allow", "enabled_tools": "allow", "includeTools": "allow", "allowedTools": "allow", "allowed_tools": "allow",
	"disabledTools": "deny", "disabled_tools": "deny", "excludeTools": "deny", "exclude_tools": "deny",
}

// readToolList returns a decoder function for a client's list of enabled or disabled tools. The
// function warns that petrigate ignores the list. Unless the list is empty, it suggests the given
// key of the section "tools" instead.
func readToolList(word string) func(Value) {
	return func(v Value) {
		hint := fmt.Sprintf("tools: { %s: [...] } has", word)
		if v.kind == listKind && len(v.items) == 0 {
			hint = ""
		}
		v.warn(v.key, v.what+forClients, hint)
	}
}

const forClients = " is a client's setting and has no effect here"

func (v Value) ignored() { v.warn(v.key, v.what+forClients, "") }

// readServerType reads the transport. It also accepts clients' names for streamable HTTP.
func readServerType(v Value) (string, bool) {
	text, ok := v.setting()
	switch text {
	case "streamable-http", "streamableHttp", "streamable_http":
		return "http", true
	}
	return text, ok && v.passes(text, checkWord([]string{"stdio", "http", "sse"}))
}

// values returns a function that reads a map from names to strings, as used for env and headers.
func values(check func(key, value string) string) func(Value) (map[string]string, bool) {
	return func(v Value) (map[string]string, bool) {
		all := make(map[string]string, len(v.fields))
		v.Each(func(key string, value Value) {
			text, ok := value.named("the value of " + value.what).setting()
			if msg := check(key, text); ok && msg != "" {
				v.faultAt(value.key, fmt.Sprintf("%s in %s", msg, v.what), "")
			}
			all[key] = text // keep an invalid value, because [Servers] returns the server anyway
		})
		return all, true
	}
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

// readCallTimeout reads a duration. As in clients' files, a plain number means milliseconds.
func readCallTimeout(v Value) (time.Duration, bool) {
	switch v.kind {
	case brokenKind:
		return 0, false
	case numberKind:
		ms, err := strconv.ParseInt(v.text, 10, 32)
		if err == nil && ms > 0 && ms < 1000 {
			v.Fault(fmt.Sprintf("%s is in milliseconds, so %d is probably a mistake", v.what, ms), fmt.Sprintf("write %ds or %dms", ms, ms))
			return 0, false
		}
		if err == nil && ms > 0 {
			return time.Duration(ms) * time.Millisecond, true
		}
	case textKind:
		text, ok := v.setting()
		if !ok {
			return 0, false
		}
		if t, ok := duration(text); ok && t > 0 {
			return t, true
		}
	}
	v.Fault(v.what+" must be a duration, or a number of milliseconds", "for example 60s")
	return 0, false
}

var checkPrefix = accept(func(text string) bool {
	bad := func(r rune) bool {
		return r >= 0x80 || !(unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-')
	}
	return !strings.ContainsFunc(text, bad) && len(text) <= 48
}, "%[1]s can have at most 48 characters, all of them from A-Z a-z 0-9 _ -", "")

// checkAgreement sets the server's type, and reports keys of the server that contradict each other
// or have no effect. If the server has both a command and a URL, or neither, checkAgreement only
// reports this and does not set the type.
func checkAgreement(v Value, s *Server) {
	command, address := v.get("command"), v.get("url")
	switch {
	case command != nil && address != nil:
		v.faultAt(address, fmt.Sprintf("server %q has both a command and a url", s.Name), "keep one of them")
		return
	case command == nil && address == nil:
		v.faultAt(v.key, fmt.Sprintf("server %q needs a command or a url", s.Name), "")
		return
	case command != nil && command.kind == textKind && command.text == "":
		v.faultAt(command, `"command" is empty`, "")
	}
	kind, others := "stdio", []string{"headers", "oauth", "tls"}
	if address != nil {
		kind, others = "http", []string{"args", "env", "envFile", "cwd"}
		if s.Type == "sse" {
			kind = "sse"
		}
	}
	if s.Type != "" && s.Type != kind {
		v.faultAt(v.get("type"), fmt.Sprintf("type %s does not match the other keys, which belong to type %s", s.Type, kind), "")
	}
	s.Type = kind
	warnHome(v)
	if s.Type == "sse" && s.Protocol != "auto" && s.Protocol != "legacy" {
		v.faultAt(v.get("protocol"), "a server of type sse uses revision 2024-11-05", "omit protocol")
	}
	checkUniqueHeaders(v)
	checkAuthorizedOnce(v, s)
	checkSecureOnly(v, s)
	for _, f := range v.fields {
		if slices.Contains(others, f.key.text) {
			v.faultAt(f.key, fmt.Sprintf("%q has no effect for a server of type %s", f.key.text, kind), "")
		}
	}
}

// warnHome warns about text that a shell would expand to the home directory. petrigate does not
// expand it, so a server might create a directory named "~".
func warnHome(v Value) {
	for _, key := range []string{"command", "cwd", "args"} {
		value := v.get(key)
		for _, text := range append(value.list(), value) {
			if text != nil && text.kind == textKind && (text.text == "~" || strings.HasPrefix(text.text, "~/") || strings.HasPrefix(text.text, "$HOME")) {
				v.warn(text, fmt.Sprintf("no shell reads %q, so ~ is not expanded", key), "write ${HOME} instead")
			}
		}
	}
}

// checkUniqueHeaders rejects headers whose names differ only in letter case. Only one of them would
// be sent, chosen at random.
func checkUniqueHeaders(v Value) {
	seen := make(map[string]string)
	for _, f := range v.get("headers").entries() {
		name := strings.ToLower(f.key.text)
		if first, ok := seen[name]; ok && first != f.key.text {
			v.faultAt(f.key, fmt.Sprintf("%q and %q are the same header", first, f.key.text), "")
		}
		seen[name] = f.key.text
	}
}

// EnvNames returns the sorted names of the variables that the configuration sets for the server.
// Unlike the values, which may be secret, the names may be shown.
func (s Server) EnvNames() []string { return slices.Sorted(maps.Keys(s.Env)) }

// checkAuthorizedOnce checks that requests to the server are authorized in only one way, and that
// tokens are sent only over https.
func checkAuthorizedOnce(v Value, s *Server) {
	section := v.get("oauth")
	if section == nil || s.OAuth == nil || s.OAuth.Disabled {
		return
	}
	for name := range s.Headers {
		if strings.EqualFold(name, "Authorization") {
			v.faultAt(section, `"oauth" and an Authorization header cannot be combined`, "keep one of them")
		}
	}
	if s.URL != "" && !isSecureURL(s.URL) {
		v.faultAt(section, `"oauth" requires a "url" that begins with https://`, "http:// is allowed only for this machine")
	}
}

// checkSecureOnly checks that only https servers have TLS settings.
func checkSecureOnly(v Value, s *Server) {
	if section := v.get("tls"); section != nil && s.TLS != nil && strings.HasPrefix(s.URL, "http:") {
		v.faultAt(section, `"tls" requires a "url" that begins with https://`, "")
	}
}
