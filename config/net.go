package config

// A Net is a net from the configuration or from a net file, before it is interpreted. Package gate
// interprets it and checks that it is sound.
type Net struct {
	Name           string
	Places         []string
	InitialMarking map[string]int
	TerminalPlaces []string
	FreeTools      []string
	Allow          map[string][]string // maps a place to the tools that may be called while the place is marked; each is a name or a pattern with * and ?
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
	Recovery map[string]int // minimum number of tokens for each listed place; while all places have their minimum, the net is in recovery, and advisory nets of lower priority let calls pass; nil means never

	origin
}

// A Transition configures a transition of a net and lists the tools whose calls fire it.
type Transition struct {
	Name            string
	Type            string // "manual" if people must approve the calls; "auto" or empty otherwise
	Inputs, Outputs []string
	Tools           []string
	Except          []string   // names of calls that a transition for the tool "*" does not apply to
	Key             []KeyField // overrides the net's key for this transition
	Approvals       int        // number of approvers of a manual transition; 0 means one
	Deferred        bool
	Observe         bool
	Unknown         string // "release" returns a call's tokens if its outcome is unknown; "hold" or empty keeps them until the outcome is known
	Weak            string // what happens if it is uncertain whether a call has a name in Tools: with "progress", the transition fires; with "block" or empty, the call is blocked if firing would add tokens to a place; ignored if Observe is set
	Via             string // approval channel of a manual transition; empty means any channel
	Unless          []string
	Position        Position

	origin
}

// A Map is a map entry of a net. If a call of Tool satisfies the entry's condition, As becomes an
// additional name of the call. Exactly one of Word, Pattern, Runs, Reads, Writes and When is set
// and contains the condition. If When is set, Field is empty.
type Map struct {
	Tool     string
	Field    string // name of an argument, or a path that begins with "$."
	Word     string
	Pattern  string   // regular expression in RE2 syntax
	Runs     []string // words of a command that the script in the argument must run
	Exactly  bool     `json:",omitempty"` // for Runs: whether to reject further arguments that could change the command's effect
	Reads    []string `json:",omitempty"` // globs for files; the script in the argument must read one of them
	Writes   []string `json:",omitempty"` // globs for files; the script in the argument must write one of them
	When     Expression
	As       string
	Position Position

	origin
}

// Allowed returns the position of a tool in a place's list in [Net.Allow]. If the list does not
// contain the tool, Allowed returns the position of the list. If the place has no list, it returns
// the position of the net.
func (n *Net) Allowed(place, tool string) Position {
	if n.source == nil {
		return Position{}
	}
	return n.entryPosition(n.node.get("allow").get(place), tool)
}
