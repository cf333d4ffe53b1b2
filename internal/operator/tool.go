package operator

import (
	"encoding/json"
	"time"
)

// A ToolChange describes a tool whose server has changed the accepted definition.
type ToolChange struct {
	Canonical   string    `json:"canonical"`
	Exposed     string    `json:"exposed"`
	Upstream    string    `json:"upstream"`
	Quarantined bool      `json:"quarantined"` // whether the tool is neither listed nor callable
	Why         string    `json:"why"`
	Accepted    time.Time `json:"accepted,omitzero"` // time when a definition was last accepted; zero: no definition was accepted
	By          string    `json:"by,omitempty"`      // person who accepted the definition
	Hash        string    `json:"hash"`              // hash of the current definition

	Differences     []Difference `json:"differences"`
	MoreDifferences int          `json:"moreDifferences,omitempty"` // number of differences that the list leaves out
}

// A ToolInfo describes a tool that clients can call, and how a call of the tool would be decided
// now.
type ToolInfo struct {
	Canonical string        `json:"canonical"`
	Bare      string        `json:"bare"`
	Exposed   string        `json:"exposed"`
	Upstream  string        `json:"upstream"`
	Session   string        `json:"session"`  // session that the verdict applies to; empty: a session that begins now
	Decision  string        `json:"decision"` // verdict on a call without arguments: "allow", "ask" or "refuse"
	Depends   bool          `json:"depends"`  // whether the verdict can be different for other arguments
	Says      string        `json:"says"`     // the verdict as a sentence
	Nets      []ToolVerdict `json:"nets"`     // nets that do not abstain on a call without arguments

	InputSchema json.RawMessage `json:"-"` // schema of the arguments; nil: the upstream provides none
	Description string          `json:"-"` // description from the upstream
	Annotations json.RawMessage `json:"-"` // annotations from the upstream, unchanged; nil: none
	Definition  string          `json:"-"` // hash of the upstream's whole definition of the tool
}

// A ToolVerdict is one net's current verdict on a tool.
type ToolVerdict struct {
	Net     string `json:"net"`
	Verdict string `json:"verdict"`
	Rule    string `json:"rule,omitempty"`
	Shadow  bool   `json:"shadow,omitempty"` // whether the net is in shadow mode, so that its verdict has no effect
	Left    *int   `json:"left,omitempty"`   // number of calls that the net's limit still allows
}
