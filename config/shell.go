package config

// Shell configures how scripts are interpreted for maps with "runs", "reads" or "writes".
type Shell struct {
	Doubt  string `json:",omitempty"` // verdict on a script that might run a blocked command: "refuse", "ask" or "pass"; empty: "refuse"
	Strict bool   `json:",omitempty"` // treat a script that is not fully understood as one that might run any command

	// Pipefail "add" makes agents whose hooks can change a script run it with set -o pipefail, if
	// only pipefail is missing for the script to count as evidence. "leave" or empty runs the
	// script unchanged.
	Pipefail string `json:",omitempty"`
}

// AddsPipefail reports whether Pipefail is "add".
func (s *Shell) AddsPipefail() bool { return s.Pipefail == "add" }

// shellDoubts lists the values of shell.doubt, strictest last; shellPipefails those of
// shell.pipefail.
var (
	shellDoubts    = []string{"pass", "ask", "refuse"}
	shellPipefails = []string{"leave", "add"}
)

// readShell reads the section "shell".
func readShell(s *Shell) func(Value) {
	return func(v Value) {
		v.Fields(Keys{
			"doubt":    into(&s.Doubt, oneOf(shellDoubts)),
			"strict":   into(&s.Strict, Value.Flag),
			"pipefail": into(&s.Pipefail, oneOf(shellPipefails)),
		})
	}
}
