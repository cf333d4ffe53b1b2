package config

// A Net is a hand-written net as written in the file. Package gate interprets it and checks that it
// is sound.
type Net struct {
	Name           string
	Places         []string
	InitialMarking map[string]int
	TerminalPlaces []string
	FreeTools      []string
	Allow          map[string][]string // the only tools that may be called while a place is marked, keyed by place; patterns with * and ? are allowed, as in rules
	Key            []KeyField          // fields of the net's key; the net has a separate marking for each combination of their values
	Transitions    []Transition
	Map            []Map
	Match          string // "all" (or empty) applies all matching entries of Map; "first" applies only the first
	Reason         string
	AllowUnbounded bool
	Prove          []Proof
	Validate       []Validator
	Remember       []Memory
	Scope          string // "session", "principal" or "global"; empty means "session"
	Shadow         bool
	Position       Position

	// The following fields determine how the net affects the advertised tools; see package gate.
	Priority int
	Class    string         // "required" or "advisory"; empty means "required"
	Recovery map[string]int // number of tokens for each place; the net is in recovery while each of these places has at least that many; nil means never

	origin
}

// A Transition is an element of [Net.Transitions].
type Transition struct {
	Name            string
	Type            string // how the transition fires: "auto" or "manual"; empty means "auto"
	Inputs, Outputs []string
	Tools           []string
	Except          []string   // calls excluded from a transition for the tool "*", which otherwise gates all calls
	Key             []KeyField // overrides the net's key for this transition
	Approvals       int        // number of approvers of a manual transition; 0 means one
	Deferred        bool
	Observe         bool
	Unknown         string // "hold" or "release"; with "release", the tokens are returned after an unknown outcome; empty means "hold"
	Weak            string // what to do with a call that would advance the net but only might have a name in Tools: "block" blocks the call, "progress" fires the transition; empty means "block"
	Via             string // approval channel of a manual transition; empty means any channel
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
	Runs     []string // words that the command must contain
	Exactly  bool     `json:",omitempty"` // whether the words in Runs must be the command's only arguments, apart from arguments that have no effect
	Reads    []string `json:",omitempty"` // globs for files that a script reads
	Writes   []string `json:",omitempty"` // globs for files that a script writes
	When     Expression
	As       string
	Position Position

	origin
}

// Allowed returns the position of a tool in the list for a place in [Net.Allow]. If the tool is not
// in the list, Allowed returns the position of the list. If the place has no list, it returns the
// position of the net.
func (n *Net) Allowed(place, tool string) Position {
	if n.source == nil {
		return Position{}
	}
	return n.entryPosition(n.node.get("allow").get(place), tool)
}
