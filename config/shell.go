package config

// Shell configures how petrigate interprets scripts to find the commands that they run and the
// files that they read or write.
type Shell struct {
	Doubt  string `json:",omitempty"` // what to do with a script that might run a blocked command: "refuse", "ask" or "pass"; empty means "refuse"
	Strict bool   `json:",omitempty"` // whether to assume that a script that is not fully understood might run any command

	// Pipefail is "add", "leave" or empty, which means "leave". With "add", petrigate inserts "set
	// -o pipefail" at the start of a script if this makes the script's success meet one more
	// requirement of the policy. This works only for agents that run the script returned by their
	// hook.
	Pipefail string `json:",omitempty"`
}

// AddsPipefail reports whether Pipefail is "add".
func (s *Shell) AddsPipefail() bool { return s.Pipefail == "add" }

// shellDoubts lists the values of shell.doubt, strictest last. shellPipefails lists the values of
// shell.pipefail.
var (
	shellDoubts    = []string{"pass", "ask", "refuse"}
	shellPipefails = []string{"leave", "add"}
)

func readShell(s *Shell) func(Value) {
	return func(v Value) {
		v.Fields(Keys{
			"doubt":    into(&s.Doubt, oneOf(shellDoubts)),
			"strict":   into(&s.Strict, Value.Flag),
			"pipefail": into(&s.Pipefail, oneOf(shellPipefails)),
		})
	}
}
