package operator

import (
	"encoding/json"
	"time"
)

// A ToolChange describes a tool whose server has changed its accepted definition.
type ToolChange struct {
	Canonical   string    `json:"canonical"`
	Exposed     string    `json:"exposed"`
	Upstream    string    `json:"upstream"`
	Quarantined bool      `json:"quarantined"` // the tool is neither listed nor callable
	Why         string    `json:"why"`
	Accepted    time.Time `json:"accepted,omitzero"` // time of the last acceptance; zero: no definition was accepted
	By          string    `json:"by,omitempty"`      // person who accepted it
	Hash        string    `json:"hash"`              // hash of the present definition

	Differences     []Difference `json:"differences"`
	MoreDifferences int          `json:"moreDifferences,omitempty"` // number of further differences
}

// A ToolInfo describes a tool that clients can call, with the current verdict on calling it.
type ToolInfo struct {
	Canonical string        `json:"canonical"`
	Bare      string        `json:"bare"`
	Exposed   string        `json:"exposed"`
	Upstream  string        `json:"upstream"`
	Session   string        `json:"session"`  // session of the verdict; empty: one that begins now
	Decision  string        `json:"decision"` // verdict on a call without arguments: allow, ask or refuse
	Depends   bool          `json:"depends"`  // the verdict can be another one for other arguments
	Says      string        `json:"says"`     // the verdict as a sentence
	Nets      []ToolVerdict `json:"nets"`     // nets that do not abstain from a call without arguments

	InputSchema json.RawMessage `json:"-"` // schema of the arguments; nil: the upstream gives none
	Description string          `json:"-"` // description by the upstream
	Annotations json.RawMessage `json:"-"` // annotations by the upstream, unchanged; nil: none
	Definition  string          `json:"-"` // hash of the upstream's whole definition of the tool
}

// A ToolVerdict is one net's current verdict on a tool.
type ToolVerdict struct {
	Net     string `json:"net"`
	Verdict string `json:"verdict"`
	Rule    string `json:"rule,omitempty"`
	Shadow  bool   `json:"shadow,omitempty"` // the net is in shadow: its verdict has no effect
	Left    *int   `json:"left,omitempty"`   // number of calls that a limit still allows
}
