package config

// A Net is a hand-written net as written in the file. Package gate interprets the net and checks
// that it is sound.
type Net struct {
	Name           string
	Places         []string
	InitialMarking map[string]int
	TerminalPlaces []string
	FreeTools      []string
	Allow          map[string][]string // for each place, the only tools that may be called while the place is marked; may be patterns with * and ?, as in rules
	Key            []KeyField          // fields of the net's key; the net has a separate marking for each of their values
	Transitions    []Transition
	Map            []Map
	Match          string // "all" or empty: all matching entries of Map apply; "first": only the first of them applies
	Reason         string
	AllowUnbounded bool
	Prove          []Proof
	Validate       []Validator
	Remember       []Memory
	Scope          string // the scope of the net: "session", "principal" or "global"; empty: "session"
	Shadow         bool
	Position       Position

	// The following fields determine how the net affects the advertised tools; see package gate.
	Priority int
	Class    string         // the class of the net: "required" or "advisory"; empty: "required"
	Recovery map[string]int // the net is in recovery while each of these places has at least this many tokens; nil: never

	origin
}

// A Transition is an element of [Net.Transitions].
type Transition struct {
	Name            string
	Type            string // how the transition is fired: "auto" or "manual"; empty: "auto"
	Inputs, Outputs []string
	Tools           []string
	Except          []string   // names of calls that the transition does not gate; only for a transition with the tool "*"
	Key             []KeyField // replaces the key of the net for this transition
	Approvals       int        // for manual transitions only, the number of approvers; 0: one
	Deferred        bool
	Observe         bool
	Unknown         string // "hold" or "release"; empty: "hold"; with "release", the tokens are returned after an unknown outcome
	Weak            string // "block" or "progress"; empty: "block"; with "progress", a weak name is enough to advance the net
	Via             string // for manual transitions only, the approval channel; empty: any channel
	Unless          []string
	Position        Position

	origin
}

// A Map is an element of [Net.Map]. Exactly one of Word, Pattern, Runs, Reads, Writes and When is
// set. If When is set, Field is empty.
type Map struct {
	Tool     string
	Field    string // name of an argument, or a path that begins with "$."
	Word     string
	Pattern  string   // regular expression in RE2 syntax
	Runs     []string // words of a command that the map looks for
	Exactly  bool     `json:",omitempty"` // in addition to the words in Runs, only arguments without any effect are allowed
	Reads    []string `json:",omitempty"` // globs for files that a script reads
	Writes   []string `json:",omitempty"` // globs for files that a script writes
	When     Expression
	As       string
	Position Position

	origin
}

// Allowed returns the position of a tool in the list that [Net.Allow] contains for a place. If the
// list does not contain the tool, Allowed returns the same position as Of would.
func (n *Net) Allowed(place, tool string) Position {
	if n.source == nil {
		return Position{}
	}
	return n.in(n.node.get("allow").get(place), tool)
}
