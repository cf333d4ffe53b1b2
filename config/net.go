package config

// A Net is a hand-written net as written in the file. Package gate interprets it and checks that it
// is sound.
type Net struct {
	Name           string
	Places         []string
	InitialMarking map[string]int
	TerminalPlaces []string
	FreeTools      []string
	Allow          map[string][]string // tools that can be called while a place is marked, to the exclusion of all others, by place; may be patterns with * and ?, as in rules
	Key            []KeyField          // the net has a separate marking for each value of these fields
	Transitions    []Transition
	Map            []Map
	Match          string // "all" or empty: apply every matching entry of Map; "first": apply only the first
	Reason         string
	AllowUnbounded bool
	Prove          []Proof
	Validate       []Validator
	Remember       []Memory
	Scope          string // "session", "principal" or "global"; empty: "session"
	Shadow         bool
	Position       Position

	// These fields determine how the net affects the advertised tools; see package gate.
	Priority int
	Class    string         // "required" or "advisory"; empty: "required"
	Recovery map[string]int // nil: never

	origin
}

// A Transition is an entry of [Net.Transitions].
type Transition struct {
	Name            string
	Type            string // "auto" or "manual"; empty: "auto"
	Inputs, Outputs []string
	Tools           []string
	Except          []string   // with the tool "*": names of calls that the transition does not gate
	Key             []KeyField // overrides the net's key
	Approvals       int        // only for manual transitions: number of approvers; 0: one
	Deferred        bool
	Observe         bool
	Unknown         string // "hold" or "release"; empty: "hold"; with "release", an unknown outcome returns the tokens
	Weak            string // "block" or "progress"; empty: "block"; with "progress", a weak name can advance the net
	Via             string // only for manual transitions: approval channel; empty: any
	Unless          []string
	Position        Position

	origin
}

// A Map is an entry of [Net.Map]. Exactly one of Word, Pattern, Runs, Reads, Writes and When is
// set. If When is set, Field is empty.
type Map struct {
	Tool     string
	Field    string // name of an argument, or a path that begins with "$."
	Word     string
	Pattern  string   // regular expression in RE2 syntax
	Runs     []string // words of a command
	Exactly  bool     `json:",omitempty"` // with Runs: allow no arguments other than these words and inert ones
	Reads    []string `json:",omitempty"` // globs over files that a script reads
	Writes   []string `json:",omitempty"` // globs over files that a script writes
	When     Expression
	As       string
	Position Position

	origin
}

// Allowed returns the position of a tool in the list that [Net.Allow] contains for a place. Without
// such an entry, it falls back in the same way as Of.
func (n *Net) Allowed(place, tool string) Position {
	if n.source == nil {
		return Position{}
	}
	return n.in(n.node.get("allow").get(place), tool)
}
