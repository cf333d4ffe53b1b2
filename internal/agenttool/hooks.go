package agenttool

import "github.com/petrigate/petrigate/internal/list"

// Hooks describes the hooks of an agent: the events that it reports, and the file that configures
// the programs to run for them.
type Hooks struct {
	// Events lists the known events. Those with Configured set are written to the file in this order.
	Events []HookEvent

	File HookFile
	New  string // initial content of the file if it does not exist; may be empty

	Flat  bool // whether the file's list for an event contains hooks instead of groups of hooks
	URL   bool // whether a hook can be a URL instead of a command
	Typed bool // whether a hook has a "type" member
	Wait  int  // timeout of pre-call hooks, in seconds
	Milli bool // whether the file contains timeouts in milliseconds

	// FailClosed is the member of a pre-call hook's entry that makes the agent refuse the call if
	// the hook fails. It is empty if the agent has no such setting.
	FailClosed HookMember

	// Off lists settings that disable hooks. Each entry lists the keys on the path to the setting,
	// followed by the value that disables hooks. A setting can be in the hooks file or in another
	// file. Beside lists other files, with paths relative to the current directory. Sibling is the
	// name of such a file in the directory of the hooks file; it may be empty.
	Off     [][]string
	Beside  []string
	Sibling string

	// Gaps lists the weaknesses of the agent's hooks, as text for messages. Most of them let
	// certain calls pass even if all hooks are installed.
	Gaps []string
}

// A HookFile specifies the location of the file that configures an agent's hooks.
type HookFile struct {
	Variable  string // environment variable that contains the path of the directory; may be empty
	Directory string // directory used if the variable is not set, relative to the home directory
	Name      string // name of the file in the directory
	InProject bool   // whether Directory is relative to the current directory instead
}

// A HookMember is a member of the JSON object that configures a hook.
type HookMember struct {
	Key   string
	Value any
}

// A HookEvent is an event that an agent reports to its hooks.
type HookEvent struct {
	Name       string
	Kind       EventKind
	Configured bool   // whether petrigate needs the event and therefore configures a hook for it
	Tools      string // pattern that selects the tools whose calls are reported; empty for all tools
}

// An EventKind is a category of hook events.
type EventKind int

// The kinds of events.
const (
	Ignored    EventKind = iota // petrigate does nothing for the event
	BeforeCall                  // a call is about to be made and needs a decision
	AfterCall                   // a call has ended, successfully or not
	CallFailed                  // a call has failed
	TurnEnd                     // a turn has ended, so no call of the session is still in flight
	SessionEnd                  // the session has ended
)

// OfCall reports whether an event of kind k announces a call or reports its end.
func (k EventKind) OfCall() bool { return k == BeforeCall || k == AfterCall || k == CallFailed }

// Configured returns the events that petrigate configures hooks for.
func (h *Hooks) Configured() []HookEvent {
	return list.Filter(h.Events, func(e HookEvent) bool { return e.Configured })
}

// timeoutGap is the entry in [Hooks.Gaps] for agents that let a call pass if its hook takes too
// long.
const timeoutGap = "a hook that exceeds its timeout lets the call pass, and so does a failing hook on Windows"

// exceptMCP is a pattern that matches the names of Cursor's built-in tools, but not those of MCP
// tools.
const exceptMCP = "^(?!MCP:)"
