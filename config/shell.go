package config

// Shell configures how scripts are interpreted for maps with "runs", "reads" or "writes".
type Shell struct {
	Doubt  string `json:",omitempty"` // verdict on a script that might run a blocked command: "refuse", "ask" or "pass"; empty: "refuse"
	Strict bool   `json:",omitempty"` // treat a script that is not fully understood as if it might run any command

	// Pipefail is "add", "leave" or empty. With "add", agents whose hooks can modify a script run
	// it with "set -o pipefail" if only this option is missing for the script to count as evidence.
	// Otherwise, scripts run unchanged.
	Pipefail string `json:",omitempty"`
}

// AddsPipefail reports whether Pipefail is "add".
func (s *Shell) AddsPipefail() bool { return s.Pipefail == "add" }

// shellDoubts lists the possible values of shell.doubt, strictest last, and shellPipefails lists
// those of shell.pipefail.
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
