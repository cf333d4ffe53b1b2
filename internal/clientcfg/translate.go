package clientcfg

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/list"
)

// A reader translates a single entry of a client's server list to a [Server].
type reader struct {
	system  System
	dialect dialect
	to      *Server
	headed  *variables // syntax of variable references in headers

	kind, command, url, cwd, envFile string
	args                             []string
	env, headers                     map[string]string
	timeout                          string
	disabled                         bool
	allow, deny                      []string
	oauth                            any      // OAuth settings as a [splice.Object], false if the entry turns OAuth off, or nil if the entry contains no supported settings
	scopes                           []string // scopes that the entry lists outside its OAuth settings
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

// refuse marks the entry as refused. The format and its arguments describe the reason. If the entry
// is already refused, the earlier reason is kept.
func (r *reader) refuse(format string, args ...any) {
	if r.to.Refused == "" {
		r.to.Refused = fmt.Sprintf(format, args...)
	}
}

// read reads the value of one key of the entry. It handles the keys of all clients, because a key
// has the same meaning in every client that uses it.
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
		r.refuse("%s runs a program to get headers, which petrigate does not support; write headers with ${VARIABLE}", key)
	default:
		r.readMore(key, v)
	}
}

// readMore reads the keys that do not specify the location of the server.
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
	case "scopes": // only Codex has this key
		list, _ := v.([]any)
		if r.scopes = splice.Texts(list); len(r.scopes) == 0 {
			r.to.Dropped = append(r.to.Dropped, key)
		}
	case "name", "description", "display_name", "source", "bundled":
	default:
		r.to.Dropped = append(r.to.Dropped, key)
	}
}

// valueAs returns v, the value of the given key, as a T. If v has another type, valueAs refuses the
// entry and uses want to describe the required type.
func valueAs[T any](r *reader, key string, v any, want string) T {
	value, ok := v.(T)
	if !ok {
		r.refuse("%q must be %s", key, want)
	}
	return value
}

// plain reads a string without replacing variables.
func (r *reader) plain(key string, v any) string { return valueAs[string](r, key, v, "text") }

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

func (r *reader) texts(key string, v any) []string {
	return list.Map(valueAs[[]any](r, key, v, "a list of strings"), func(item any) string { return r.text(key, scalar(item)) })
}

// names reads a list of names. An element of the list can also be a mapping that contains the name,
// as in some settings of Codex.
func (r *reader) names(key string, v any) (all []string) {
	for _, item := range valueAs[[]any](r, key, v, "a list of names") {
		if fields, ok := item.(map[string]any); ok {
			item = fields["name"]
		}
		all = append(all, r.plain(key, item))
	}
	return all
}

func (r *reader) readCommand(key string, v any) {
	switch v := v.(type) {
	case []any: // OpenCode lists the arguments as part of the command
		words := r.texts(key, v)
		if len(words) > 0 {
			r.command, r.args = words[0], append(words[1:], r.args...)
		}
	case map[string]any: // older versions of Zed use this form
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
	fields := valueAs[map[string]any](r, key, v, "a mapping")
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

func (r *reader) flag(key string, v any) bool { return valueAs[bool](r, key, v, "true or false") }

// finish creates the server from the keys that were read.
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
	var o, tools splice.Object
	if r.url != "" {
		if r.sse() {
			addNonempty(&o, "type", "sse")
		}
		addNonempty(&o, "url", r.url)
		addNonempty(&o, "headers", sorted(r.headers))
		r.addOAuth(&o)
	} else {
		if len(r.scopes) > 0 {
			r.to.Dropped = append(r.to.Dropped, "scopes")
		}
		addNonempty(&o, "command", r.command)
		addNonempty(&o, "args", r.args)
		addNonempty(&o, "env", sorted(r.env))
		addNonempty(&o, "envFile", r.envFile)
		addNonempty(&o, "cwd", r.cwd)
	}
	addNonempty(&o, "timeout", r.timeout)
	if r.disabled {
		o = append(o, splice.Member{Key: "disabled", Value: true})
	}
	addNonempty(&tools, "allow", r.allow)
	addNonempty(&tools, "deny", r.deny)
	addNonempty(&o, "tools", tools)
	r.to.Fields = o
	for _, s := range Secrets(splice.Plain(o)) {
		if s.Name != "" {
			r.to.Literal = append(r.to.Literal, s.Name)
		}
	}
}

// sse reports whether the server uses HTTP+SSE, the transport of protocol revision 2024-11-05.
func (r *reader) sse() bool {
	switch r.kind {
	case "sse":
		return true
	case "", "remote":
		return r.dialect.urlIsSSE || strings.HasSuffix(strings.TrimRight(r.url, "/"), "/sse")
	}
	return false
}

// addNonempty adds a member to o unless its value is empty.
func addNonempty[T string | []string | splice.Object](o *splice.Object, key string, value T) {
	if len(value) > 0 {
		*o = append(*o, splice.Member{Key: key, Value: value})
	}
}

// sorted returns the fields as an object whose members are sorted by key.
func sorted[T any](fields map[string]T) (o splice.Object) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		o = append(o, splice.Member{Key: name, Value: fields[name]})
	}
	return o
}

// readApproval reads Codex's approval modes, which determine whether the user is asked before a
// tool of the server is called.
func (r *reader) readApproval(key string, v any) {
	server := r.to.Name
	modes := map[string]string{}
	if key == "default_tools_approval_mode" {
		modes[key], _ = v.(string)
	}
	tools, _ := v.(map[string]any)
	for _, tool := range slices.Sorted(maps.Keys(tools)) {
		fields, _ := tools[tool].(map[string]any)
		modes[fmt.Sprintf("%s.%s.approval_mode", key, tool)], _ = fields["approval_mode"].(string)
	}
	for _, where := range slices.Sorted(maps.Keys(modes)) {
		if modes[where] != "prompt" {
			r.to.Dropped = append(r.to.Dropped, where)
			continue
		}
		tool := "*"
		if where != key {
			tool = strings.TrimSuffix(strings.TrimPrefix(where, key+"."), ".approval_mode")
		}
		r.to.Left = append(r.to.Left, Safeguard{Where: where, Value: "prompt", Rule: RuleFor(server+"."+tool, false)})
	}
}

// noteUnreplaced warns the user about references in headers to variables that the entry does not
// list. The client sends such references as ordinary text.
func (r *reader) noteUnreplaced(headers any) {
	fields, _ := headers.(map[string]any)
	if r.dialect.headers == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text, _ := fields[name].(string)
		for _, match := range braces.FindAllString(text, -1) {
			variable := strings.TrimSpace(strings.Trim(match, "${}"))
			if _, _, replaced := r.headed.one(r.system, match); !replaced && variableName.MatchString(variable) {
				r.note(fmt.Sprintf("the header %s contains %s as text, because env_keys does not list %s: write ${%s} in the configuration if you mean the variable", name, match, variable, variable))
			}
		}
	}
}

// readOAuth reads the settings that determine how the client authenticates to the server.
func (r *reader) readOAuth(key string, v any) {
	if v == false {
		r.oauth = false
		return
	}
	fields, ok := v.(map[string]any)
	if !ok {
		r.to.Dropped = append(r.to.Dropped, key)
		return
	}
	o := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !r.readLogin(o, name, fields[name]) {
			r.to.Dropped = append(r.to.Dropped, key+"."+name)
		}
	}
	if len(o) > 0 {
		r.oauth = sorted(o)
	}
}

// readLogin reads the OAuth setting with the given name into o. It reports whether petrigate has an
// equivalent setting.
func (r *reader) readLogin(o map[string]any, name string, v any) bool {
	switch name {
	case "clientId", "client_id", "CLIENT_ID":
		o["clientId"] = r.text(name, v)
	case "clientSecret", "client_secret", "CLIENT_SECRET":
		r.note(name + " is not imported: write it as oauth.clientSecret, with its authorization server as oauth.issuer")
	case "scope", "scopes":
		list, _ := v.([]any)
		all := splice.Texts(list)
		if text, ok := v.(string); ok {
			all = strings.Fields(text)
		}
		if len(all) > 0 {
			o["scopes"] = all
		}
	case "callbackPort":
		port, ok := v.(json.Number)
		n, err := strconv.Atoi(port.String())
		if !ok || err != nil {
			return false
		}
		o["redirectPort"], o["redirectHost"] = n, "localhost"
	case "redirectUri":
		text, _ := v.(string)
		return readRedirect(o, text)
	default:
		return false
	}
	return true
}

// addOAuth adds the OAuth settings read by [reader.readOAuth] to the server. If a header already
// authenticates the client, it adds nothing, because a server can use only one form of
// authorization.
func (r *reader) addOAuth(server *splice.Object) {
	if o, is := r.oauth.(splice.Object); len(r.scopes) > 0 && (is || r.oauth == nil) && !slices.ContainsFunc(o, func(m splice.Member) bool { return m.Key == "scopes" }) {
		r.oauth = append(slices.Clone(o), splice.Member{Key: "scopes", Value: r.scopes})
	}
	if r.oauth == nil {
		return
	}
	for name := range r.headers {
		if o, is := r.oauth.(splice.Object); is && o != nil && strings.EqualFold(name, "Authorization") {
			r.note("oauth is not imported: the server has an Authorization header")
			return
		}
	}
	*server = append(*server, splice.Member{Key: "oauth", Value: r.oauth})
}

// note adds a note about the server for the user.
func (r *reader) note(text string) { r.to.Notes = append(r.to.Notes, text) }

// readRedirect reads a redirect URI into o. It reports whether petrigate supports the URI.
func readRedirect(o map[string]any, text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" {
		return false
	}
	host, port, err := net.SplitHostPort(u.Host)
	n, bad := strconv.Atoi(port)
	if err != nil || bad != nil {
		return false
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	o["redirectPort"], o["redirectHost"] = n, host
	if u.Path != "" {
		o["redirectPath"] = u.Path
	}
	return true
}
