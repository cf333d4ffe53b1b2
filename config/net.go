package config

// A Net is a hand-written net as it appears in the file. Package gate interprets it and checks that
// it is sound.
type Net struct {
	Name           string
	Places         []string
	InitialMarking map[string]int
	TerminalPlaces []string
	FreeTools      []string
	Allow          map[string][]string // the only tools that can be called while a place is marked, by place; patterns with * and ? as in rules
	Key            []KeyField          // one marking per value of these fields
	Transitions    []Transition
	Map            []Map
	Match          string // "" or "all": apply every matching entry of Map; "first": only the first
	Reason         string
	AllowUnbounded bool
	Prove          []Proof
	Validate       []Validator
	Remember       []Memory
	Scope          string // "" or "session", "principal", "global"
	Shadow         bool
	Position       Position

	// How the net affects the advertised tools; see package gate.
	Priority int
	Class    string         // "" or "required", "advisory"
	Recovery map[string]int // nil: never

	origin
}

// A Transition is one entry of [Net.Transitions].
type Transition struct {
	Name            string
	Type            string // "auto", "manual"; empty: "auto"
	Inputs, Outputs []string
	Tools           []string
	Except          []string   // with the tool "*": call names that the transition does not gate
	Key             []KeyField // overrides the key of the net
	Approvals       int        // manual only: number of approvers; 0: one
	Deferred        bool
	Observe         bool
	Unknown         string // "" or "hold"; "release": an unknown outcome returns the tokens
	Weak            string // "" or "block"; "progress": a weak name can advance the net
	Via             string // manual only: approval channel; empty: any
	Unless          []string
	Position        Position

	origin
}

// A Map is one entry of [Net.Map]. Exactly one of Word, Pattern, Runs, Reads, Writes and When is
// set. When has no Field.
type Map struct {
	Tool     string
	Field    string // key of the arguments, or a path that begins with "$."
	Word     string
	Pattern  string   // RE2
	Runs     []string // words of a command
	Exactly  bool     `json:",omitempty"` // with Runs: allow no other arguments than these words, except inert ones
	Reads    []string `json:",omitempty"` // globs over files that a script reads
	Writes   []string `json:",omitempty"` // globs over files that a script writes
	When     Expression
	As       string
	Position Position

	origin
}

// Allowed returns the position of a tool in a place's list of [Net.Allow]. Without such an entry,
// it falls back in the same way as Of.
func (n *Net) Allowed(place, tool string) Position {
	if n.source == nil {
		return Position{}
	}
	return n.in(n.node.get("allow").get(place), tool)
}
