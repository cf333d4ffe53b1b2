package operator

import (
	"encoding/json"
	"time"
)

// A ToolChange describes a tool whose definition has changed since it was accepted, or that has no
// accepted definition yet.
type ToolChange struct {
	Canonical   string    `json:"canonical"`
	Exposed     string    `json:"exposed"`
	Upstream    string    `json:"upstream"`
	Quarantined bool      `json:"quarantined"` // whether the tool is withheld from clients: they can neither see nor call it
	Why         string    `json:"why"`
	Accepted    time.Time `json:"accepted,omitzero"` // when a definition of the tool was last accepted; zero if never
	By          string    `json:"by,omitempty"`      // person who last accepted a definition of the tool
	Hash        string    `json:"hash"`              // hash of the current definition

	Differences     []Difference `json:"differences"`
	MoreDifferences int          `json:"moreDifferences,omitempty"` // number of differences left out of Differences
}

// A ToolInfo describes a tool that clients can call, and predicts the decision on a call to it.
type ToolInfo struct {
	Canonical string        `json:"canonical"`
	Bare      string        `json:"bare"`
	Exposed   string        `json:"exposed"`
	Upstream  string        `json:"upstream"`
	Session   string        `json:"session"`  // ID of the session whose state determines the decision; empty for a new session
	Decision  string        `json:"decision"` // decision on a call without arguments: "allow", "ask" or "refuse"
	Depends   bool          `json:"depends"`  // whether the decision may be different for other arguments
	Says      string        `json:"says"`     // explanation of the decision, as a sentence
	Nets      []ToolVerdict `json:"nets"`     // verdicts of the nets on a call without arguments; nets that abstain are left out

	InputSchema json.RawMessage `json:"-"` // schema of the arguments; nil if the upstream provides none
	Description string          `json:"-"` // description provided by the upstream
	Annotations json.RawMessage `json:"-"` // annotations provided by the upstream, unchanged; may be nil
	Definition  string          `json:"-"` // hash of the upstream's complete definition of the tool
}

// A ToolVerdict is a net's current verdict on a call to a tool.
type ToolVerdict struct {
	Net     string `json:"net"`
	Verdict string `json:"verdict"`
	Rule    string `json:"rule,omitempty"`
	Shadow  bool   `json:"shadow,omitempty"` // whether the net is in shadow mode; if so, its verdict has no effect
	Left    *int   `json:"left,omitempty"`   // number of further calls that the net's limit allows; nil if it does not limit calls
}
