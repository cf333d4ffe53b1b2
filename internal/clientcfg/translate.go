package clientcfg

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
)

// A Server is an entry of a client, translated into a server of petrigate's configuration.
type Server struct {
	Name   string
	Fields splice.Object // fields of the configuration; nil if the entry is refused

	// Refused is the reason why the entry cannot be imported; empty if it can.
	Refused string
	// Native is set for an entry that is a built-in part of the client, not a server.
	Native bool
	// Dropped lists keys that have no meaning outside the client.
	Dropped []string
	// Literal names the variables, headers and arguments whose values are probably secrets and are
	// written literally.
	Literal []string
	// Left lists restrictions of the entry that a server of petrigate does not have.
	Left []Safeguard
	// Closed is the key outside the entry that disables the server, or "".
	Closed string
	// Notes are further sentences for the user.
	Notes []string
}

// A dialect describes how a client writes its servers, apart from the names of keys.
type dialect struct {
	unit      func(n float64) time.Duration // unit of a timeout
	variables *variables                    // nil: the client replaces nothing

	headers  func(fields map[string]any) *variables // variables replaced in the headers of an entry; nil: the same as in other texts
	urlIsSSE bool                                   // a url without a type uses HTTP+SSE
	native   []string                               // types of built-in entries
}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
func seconds(n float64) time.Duration      { return time.Duration(n * float64(time.Second)) }

// zedTimeout converts seconds. Older versions of Zed used milliseconds.
func zedTimeout(n float64) time.Duration {
	if n >= 1000 {
		return milliseconds(n)
	}
	return seconds(n)
}

// A reader translates one entry.
type reader struct {
	system  System
	dialect dialect
	to      *Server
	headed  *variables // for headers

	kind, command, url, cwd, envFile string
	args                             []string
	env, headers                     map[string]string
	timeout                          string
	disabled                         bool
	allow, deny                      []string
	oauth                            any      // false or a splice.Object; nil: unset
	scopes                           []string // scopes written outside oauth
}

func translate(s System, d dialect, name string, value any) Server {
	server := Server{Name: name}
	r := &reader{system: s, dialect: d, to: &server, env: map[string]string{}, headers: map[string]string{}}
	fields, ok := value.(map[string]any)
	if !ok {
		server.Refused = "it is not a mapping"
		return server
	}
	if kind, _ := fields["type"].(string); slices.Contains(d.native, kind) {
		server.Native = true
		return server
	}
	if r.headed = d.variables; d.headers != nil {
		r.headed = d.headers(fields)
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		r.read(key, fields[key])
	}
	r.finish()
	return server
}

// refuse records the first reason for a refusal.
func (r *reader) refuse(format string, args ...any) {
	if r.to.Refused == "" {
		r.to.Refused = fmt.Sprintf(format, args...)
	}
}

// read reads one key. It knows the keys of all clients, which do not conflict.
func (r *reader) read(key string, v any) {
	if v == nil {
		return
	}
	switch key {
	case "type", "transport", "transportType":
		r.kind = r.plain(key, v)
	case "command", "cmd":
		r.readCommand(key, v)
	case "args":
		r.args = append(r.args, r.texts(key, v)...)
	case "env", "envs", "environment":
		r.readMap(key, v, r.env, r.dialect.variables)
	case "env_vars", "env_keys":
		for _, name := range r.names(key, v) {
			r.env[name] = r.variable(name)
		}
	case "envFile":
		r.envFile = r.text(key, v)
	case "cwd", "workingDirectory":
		r.cwd = r.text(key, v)
	case "url", "serverUrl", "httpUrl", "uri":
		r.url = r.text(key, v)
		if key == "httpUrl" && r.kind == "" {
			r.kind = "http"
		}
	case "headers", "http_headers":
		r.readMap(key, v, r.headers, r.headed)
		r.noteUnreplaced(v)
	case "env_http_headers":
		fields, _ := v.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			r.headers[name] = r.variable(r.plain(name, fields[name]))
		}
	case "bearer_token_env_var":
		r.headers["Authorization"] = "Bearer " + r.variable(r.plain(key, v))
	case "requestOptions":
		fields, _ := v.(map[string]any)
		r.readMap(key, fields["headers"], r.headers, r.headed)
	case "headersHelper":
		r.refuse("%s runs a program for the headers, which petrigate does not; write headers with ${VARIABLE}", key)
	default:
		r.readMore(key, v)
	}
}

// readMore reads the keys that do not locate the server.
func (r *reader) readMore(key string, v any) {
	switch key {
	case "timeout", "tool_timeout_sec":
		r.readTimeout(key, v)
	case "disabled":
		r.disabled = r.disabled || r.flag(key, v)
	case "enabled":
		r.disabled = r.disabled || !r.flag(key, v)
	case "includeTools", "enabled_tools", "enabledTools", "allowedTools", "available_tools":
		r.allow = append(r.allow, r.names(key, v)...)
	case "excludeTools", "disabled_tools", "disabledTools":
		r.deny = append(r.deny, r.names(key, v)...)
	case "default_tools_approval_mode", "tools":
		r.readApproval(key, v)
	case "oauth", "auth":
		r.readOAuth(key, v)
	case "scopes": // Codex
		list, _ := v.([]any)
		if r.scopes = texts(list); len(r.scopes) == 0 {
			r.to.Dropped = append(r.to.Dropped, key)
		}
	case "name", "description", "display_name", "source", "bundled":
	default:
		r.to.Dropped = append(r.to.Dropped, key)
	}
}

// plain reads a text without replacing variables.
func (r *reader) plain(key string, v any) string {
	text, ok := v.(string)
	if !ok {
		r.refuse("%q must be text", key)
	}
	return text
}

func (r *reader) text(key string, v any) string { return r.expanded(r.dialect.variables, key, v) }

func (r *reader) expanded(by *variables, key string, v any) string {
	ours, problem := by.expand(r.system, r.plain(key, v))
	if problem != "" {
		r.refuse("%s", problem)
	}
	return ours
}

func (r *reader) variable(name string) string {
	ours, problem := r.system.variable(name)
	if problem != "" {
		r.refuse("%s", problem)
	}
	return ours
}

func (r *reader) texts(key string, v any) (all []string) {
	list, ok := v.([]any)
	if !ok {
		r.refuse("%q must be a list of texts", key)
	}
	for _, item := range list {
		all = append(all, r.text(key, scalar(item)))
	}
	return all
}

// names reads a list of names. In some lists of Codex, an item is a mapping with a name.
func (r *reader) names(key string, v any) (all []string) {
	list, ok := v.([]any)
	if !ok {
		r.refuse("%q must be a list of names", key)
	}
	for _, item := range list {
		if fields, ok := item.(map[string]any); ok {
			item = fields["name"]
		}
		all = append(all, r.plain(key, item))
	}
	return all
}

// scalar converts a number or boolean to the text that a process would receive.
func scalar(v any) any {
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return v
}

func (r *reader) readCommand(key string, v any) {
	switch v := v.(type) {
	case []any: // OpenCode: with its arguments
		words := r.texts(key, v)
		if len(words) > 0 {
			r.command, r.args = words[0], append(words[1:], r.args...)
		}
	case map[string]any: // older versions of Zed
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if key == "path" {
				r.command = r.text(key, v[key])
				continue
			}
			r.read(key, v[key])
		}
	default:
		r.command = r.text(key, v)
	}
}

func (r *reader) readMap(key string, v any, to map[string]string, by *variables) {
	if v == nil {
		return
	}
	fields, ok := v.(map[string]any)
	if !ok {
		r.refuse("%q must be a mapping", key)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		to[name] = r.expanded(by, name, scalar(fields[name]))
	}
}

func (r *reader) readTimeout(key string, v any) {
	number, ok := v.(json.Number)
	n, err := number.Float64()
	if !ok || err != nil || n <= 0 || n > 1e9 {
		r.to.Dropped = append(r.to.Dropped, key)
		return
	}
	unit := r.dialect.unit
	if key == "tool_timeout_sec" {
		unit = seconds
	}
	if d := unit(n); d > 0 {
		r.timeout = d.String()
	}
}

func (r *reader) flag(key string, v any) bool {
	on, ok := v.(bool)
	if !ok {
		r.refuse("%q must be true or false", key)
	}
	return on
}

// finish assembles the server.
func (r *reader) finish() {
	switch {
	case r.command == "" && r.url == "" && r.to.Refused == "":
		r.refuse("it has neither a command nor a URL; it may come from an extension of the client")
	case r.command != "" && r.url != "":
		r.refuse("it has both a command and a URL")
	}
	if r.to.Refused != "" {
		return
	}
	o := splice.Object{}
	add := func(key string, value any) { o = append(o, splice.Member{Key: key, Value: value}) }
	if r.url != "" {
		if r.sse() {
			add("type", "sse")
		}
		add("url", r.url)
		addMap(add, "headers", r.headers)
		r.addOAuth(add)
	} else {
		if len(r.scopes) > 0 {
			r.to.Dropped = append(r.to.Dropped, "scopes")
		}
		add("command", r.command)
		if len(r.args) > 0 {
			add("args", r.args)
		}
		addMap(add, "env", r.env)
		addText(add, "envFile", r.envFile)
		addText(add, "cwd", r.cwd)
	}
	addText(add, "timeout", r.timeout)
	if r.disabled {
		add("disabled", true)
	}
	if len(r.allow)+len(r.deny) > 0 {
		add("tools", toolLists(r.allow, r.deny))
	}
	r.to.Fields = o
	for _, s := range Secrets(splice.Plain(o)) {
		if s.Name != "" {
			r.to.Literal = append(r.to.Literal, s.Name)
		}
	}
}

// sse reports whether the server uses HTTP+SSE, the transport of revision 2024-11-05.
func (r *reader) sse() bool {
	switch r.kind {
	case "sse":
		return true
	case "", "remote":
		return r.dialect.urlIsSSE || strings.HasSuffix(strings.TrimRight(r.url, "/"), "/sse")
	}
	return false
}

func addMap(add func(string, any), key string, fields map[string]string) {
	if len(fields) == 0 {
		return
	}
	o := splice.Object{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		o = append(o, splice.Member{Key: name, Value: fields[name]})
	}
	add(key, o)
}

func addText(add func(string, any), key, value string) {
	if value != "" {
		add(key, value)
	}
}

func toolLists(allow, deny []string) (o splice.Object) {
	if len(allow) > 0 {
		o = append(o, splice.Member{Key: "allow", Value: allow})
	}
	if len(deny) > 0 {
		o = append(o, splice.Member{Key: "deny", Value: deny})
	}
	return o
}
