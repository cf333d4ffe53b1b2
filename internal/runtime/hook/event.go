package hook

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	words "github.com/petrigate/petrigate/internal/text"
)

// MaxEvent is the maximum size of an event in bytes.
const MaxEvent = 8 << 20

// Limits on the content of an event.
const (
	maxName = 200 // maximum size in bytes of a tool name or an ID
	maxArgs = 4 << 20

	maxFolders = 64 << 10 // maximum size in bytes of the working folders, encoded as JSON
)

// Event is a hook event: an agent's report that a call is about to be made, or that a call, a turn
// or a session has ended.
type Event struct {
	Name    string // the agent's name for the event
	Session string // the agent's ID for the session
	ID      string // ID of the call; empty if the agent assigns none
	Tool    string
	Server  string // name of the tool's MCP server, if Gemini CLI reports it; otherwise empty
	Args    []byte // the arguments, a JSON object

	agent      *Agent
	folders    []byte // the agent's working folders, as a JSON object; nil if not reported
	kind       agenttool.EventKind
	serverName string // name of the tool's MCP server, if the event has the member mcp_server; otherwise empty
	member     string // the MCP server's own name for the tool, without the server's name; empty if not reported
	turn       string // ID of the agent's turn, or empty if not reported; a call ends with its turn at the latest
	doubtful   bool   // whether the outcome of the call is uncertain
	result     []byte // result of the call, if it has ended; may be nil
}

// Before reports whether the event announces a call. Such an event needs a decision.
func (e *Event) Before() bool { return e.kind == agenttool.BeforeCall }

// Ignored reports whether the event requires no action.
func (e *Event) Ignored() bool { return e.kind == agenttool.Ignored }

// Read reads an event. The returned event is never nil. If the event's name is missing or unknown,
// the event may announce a call. Read assumes this if the name cannot be read or begins with "pre"
// or "before", and returns an error. It ignores events with other unknown names. The caller may
// ignore an error if the event does not announce a call; see [Event.Before].
func (a *Agent) Read(body []byte) (*Event, error) {
	e := &Event{agent: a, kind: agenttool.BeforeCall}
	if len(body) > MaxEvent {
		return e, fmt.Errorf("the event has %d bytes; the limit is %d", len(body), MaxEvent)
	}
	if err := rawjson.Check(body, rawjson.MaxDepth); err != nil {
		return e, fmt.Errorf("the event is not plain JSON: %w", err)
	}
	if rawjson.Kind(body) != '{' {
		return e, errors.New("the event is not a JSON object")
	}
	e.Name = cmp.Or(text(body, "hook_event_name"), text(body, "hookEventName"))
	if e.Name == "" {
		return e, errors.New("the event has no hook_event_name")
	}
	e.kind = a.kindOf(e.Name)
	e.Session = cmp.Or(text(body, "session_id"), text(body, "sessionId"), text(body, "conversation_id"))
	e.turn = cmp.Or(text(body, "prompt_id"), text(body, "turn_id"), text(body, "generation_id"))
	if err := e.readCall(body); err != nil || e.kind == agenttool.Ignored {
		return e, err
	}
	return e, e.check()
}

// kindOf returns the kind of the event with the given name. An unknown name that starts with "pre"
// or "before" is assumed to announce a call, so that the call is refused rather than ignored.
func (a *Agent) kindOf(name string) agenttool.EventKind {
	if k := agenttool.KindOf(a.Name, name); k != agenttool.Ignored {
		return k
	}
	lower := strings.ToLower(name)
	if strings.HasPrefix(lower, "pre") || strings.HasPrefix(lower, "before") {
		return agenttool.BeforeCall
	}
	return agenttool.Ignored
}

// readCall reads the call that the event is about.
func (e *Event) readCall(body []byte) (err error) {
	e.ID, e.Tool = text(body, "tool_use_id"), text(body, "tool_name")
	if id, ok := rawjson.Member(body, "tool_use_id"); ok && rawjson.Kind(id) != '"' && string(id) != "null" {
		return errors.New("its tool_use_id is not a string")
	}
	if e.Args, err = argumentsOf(body); err != nil {
		return err
	}
	for _, key := range [...]string{"tool_response", "tool_result", "result_json", "tool_output"} {
		if value, ok := rawjson.Member(body, key); ok {
			e.result = value
			break
		}
	}
	if e.agent.read != nil {
		e.agent.read(e, body)
	}
	e.readEnd()
	e.folders = foldersOf(body)
	e.serverName = text(memberOf(body, "mcp_server"), "name")
	e.doubtful = e.doubtful || e.inBackground() || e.isInterpreted()
	if e.kind == agenttool.CallFailed && string(memberOf(body, "is_interrupt")) == "true" {
		e.kind, e.doubtful = agenttool.AfterCall, true
	}
	return nil
}

// argumentsOf returns the arguments of the call in an event. Some agents encode them as a string.
func argumentsOf(body []byte) ([]byte, error) {
	value, ok := rawjson.Member(body, "tool_input")
	if !ok || string(value) == "null" {
		return []byte("{}"), nil
	}
	if rawjson.Kind(value) == '"' {
		s, _ := rawjson.String(value)
		value = []byte(s)
		if err := rawjson.Check(value, rawjson.MaxDepth); err != nil {
			return nil, fmt.Errorf("its tool_input is not JSON: %w", err)
		}
	}
	if rawjson.Kind(value) != '{' {
		return nil, errors.New("its tool_input is not a JSON object")
	}
	return value, nil
}

// foldersOf returns the working folders that the event reports.
func foldersOf(body []byte) []byte {
	var where rawjson.Object
	for _, key := range [...]string{"cwd", "workspace_roots"} {
		if value, ok := rawjson.Member(body, key); ok {
			where = where.Raw(key, value)
		}
	}
	if where == nil {
		return nil
	}
	return where.Bytes()
}

// inBackground reports whether the call might still be running after the event that reports its
// end, for example because it runs in the background.
func (e *Event) inBackground() bool {
	for _, key := range [...]string{"run_in_background", "is_background", "isBackground"} {
		if string(memberOf(e.Args, key)) == "true" {
			return true
		}
	}
	_, task := rawjson.Member(e.result, "backgroundTaskId")
	return task || string(memberOf(e.result, "interrupted")) == "true"
}

// isInterpreted reports whether Claude Code considers a script successful although its exit status
// is not zero. Claude Code attributes the status to the last command: grep without a match, for
// example, has not failed. But an earlier command could also have caused the status.
func (e *Event) isInterpreted() bool {
	return text(e.result, "returnCodeInterpretation") != ""
}

// check returns nil if the event is acceptable, or else an error that explains why it is not.
func (e *Event) check() error {
	if e.Session == "" || len(e.Session) > maxName {
		return errors.New("the event has no session, or its name is too long")
	}
	if !e.kind.OfCall() {
		return nil
	}
	switch {
	case agenttool.KindOf(e.agent.Name, e.Name) == agenttool.Ignored:
		return fmt.Errorf("unknown event %s; send the events that docs/hooks.md lists", words.Excerpt(words.Escape(e.Name), maxName))
	case !validTool(e.Tool):
		return fmt.Errorf("the event has no valid tool name: %s", words.Excerpt(words.Escape(e.Tool), maxName))
	case e.agent.hasIDs && e.ID == "":
		return errors.New("the event has no tool_use_id")
	case len(e.ID) > maxName:
		return errors.New("the event's tool_use_id is too long")
	case len(e.turn) > maxName:
		return errors.New("the event's turn is too long")
	case len(e.folders) > maxFolders:
		return errors.New("the event's folders are too long")
	case len(e.Args) > maxArgs:
		return fmt.Errorf("the arguments have %d bytes; the limit is %d", len(e.Args), maxArgs)
	}
	return nil
}

func validTool(name string) bool {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-./:", r)
	}
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, other)
}

// isShell reports whether the event's tool runs shell scripts.
func (e *Event) isShell() bool { return slices.Contains(agenttool.Shells(e.agent.Name), e.Tool) }

// splits returns the possible ways to split the name of an MCP tool into server name and tool name.
// There are several ways if one of these names contains the agent's separator.
func (e *Event) splits() [][2]string {
	if e.member != "" {
		return [][2]string{{e.Server, e.member}}
	}
	return agenttool.Parts(e.Tool)
}

// throughProxy reports whether the call goes through the proxy, which then decides on it. It also
// returns the proxy's name for the tool. The name of the call's MCP server must be one of the given
// names of the proxy. Another server could have the same name, so the proxy must also offer the
// tool, as the callback reports. VS Code shortens the names of servers. For a call from VS Code,
// throughProxy therefore compares shortened names. Empty names are ignored; they may come from
// unset variables.
func (e *Event) throughProxy(servers []string, offered func(string) bool) (tool string, ok bool) {
	for _, s := range servers {
		if s == "" {
			continue
		}
		for _, p := range e.splits() {
			if p[0] == s && (e.serverName == s || e.serverName == "") && offered(p[1]) {
				return p[1], true
			}
		}
		prefix, cut := copilotPrefix(s), e.agent.Name == "vscode"
		if e.Server == s && e.member == "" { // old versions of Gemini CLI report the server, but not the server's own name for the tool
			prefix, cut = "mcp_"+s+"_", true
			if offered(e.Tool) {
				return e.Tool, true
			}
		}
		if tool, ok := strings.CutPrefix(e.Tool, prefix); ok && cut && offered(tool) {
			return tool, true
		}
	}
	return "", false
}

var notInPrefix = regexp.MustCompile(`[^a-z0-9_.-]+`)

// copilotPrefix returns the prefix of the names that VS Code gives to the tools of an MCP server.
func copilotPrefix(server string) string {
	const most = 13
	name := notInPrefix.ReplaceAllString(strings.ToLower(server), "_")
	return "mcp_" + name[:min(len(name), most)] + "_"
}

// members is like splits, but also considers the name formats that only some agents use.
func (e *Event) members() [][2]string {
	if e.member != "" {
		return e.splits()
	}
	return agenttool.Members(e.agent.Name, e.Tool)
}

// call returns the event's call as a [gate.Call]. The callback reports whether an upstream server
// has a tool with the given name.
func (e *Event) call(taken func(string) bool) gate.Call {
	c := gate.Call{Tool: e.Tool, Foreign: taken(e.Tool), Upstream: e.agent.Name, Args: e.Args}
	for _, n := range agenttool.Further(e.agent.Name, e.Tool, e.members(), memberOf(e.Args, "command") != nil) {
		known := n.Sure && !taken(n.Text)
		c.Also = append(c.Also, gate.Name{Text: n.Text, Certain: known, Weak: !known})
	}
	return c
}

// outcome returns the outcome that the event reports for the call.
func (e *Event) outcome() gate.Outcome {
	switch {
	case e.doubtful:
		return gate.Unknown
	case e.kind == agenttool.CallFailed:
		return gate.Failure
	}
	return gate.Success
}

// readEnd reads the outcome of a shell script from the event that reports its end.
func (e *Event) readEnd() {
	if e.kind != agenttool.AfterCall || !e.isShell() {
		return
	}
	switch e.agent.ends {
	case byEvent:
	case byCode:
		switch code, reported := exitCode(e.result); {
		case !reported:
			e.doubtful = true
		case string(code) != "0":
			e.kind = agenttool.CallFailed
		}
	case byReport:
		e.doubtful = e.doubtful || !endedWell(text(e.result, "llmContent"))
	default:
		e.doubtful = true
	}
}

// key returns a string that identifies the call within its session: its ID or, if the agent assigns
// none, a digest of the call.
func (e *Event) key() string {
	if e.ID != "" {
		return "id " + e.ID
	}
	return e.digest()
}

// digest returns the tool name followed by a hash of the arguments.
func (e *Event) digest() string { return e.Tool + " " + audit.HashOf(e.Args) }
