package hook

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// A telling is how the hooks of an agent tell whether a script of its shell succeeded.
type telling int

const (
	byEvent  telling = iota // the event after a success is another than the one after a failure
	byCode                  // an exit code in the event after it; without one the end is unknown
	byReport                // the text that the model is told
	never                   // not at all: the end of each script is unknown, and earns nothing
)

// readEnd reads how a script ended from the event after it.
func (e *Event) readEnd() {
	if e.kind != after || !e.isShell() {
		return
	}
	switch e.agent.ends {
	case byEvent:
	case byCode:
		code, told := exitCode(e.result)
		e.exited(code, told)
	case byReport:
		e.doubtful = e.doubtful || !endedWell(text(e.result, "llmContent"))
	default:
		e.doubtful = true
	}
}

// exitCode returns the exit code in a result, which some agents write as a text.
func exitCode(result []byte) (code []byte, told bool) {
	if rawjson.Kind(result) == '"' {
		s, _ := rawjson.String(result)
		if result = []byte(s); rawjson.Check(result, rawjson.MaxDepth) != nil {
			return nil, false
		}
	}
	for _, path := range [...][]string{{"exit_code"}, {"exitCode"}, {"metadata", "exit_code"}} {
		if code, told = rawjson.MemberAt(result, path...); told {
			return code, true
		}
	}
	return nil, false
}

// exited notes the exit code of a script, if the agent reported one.
func (e *Event) exited(code []byte, told bool) {
	switch {
	case !told:
		e.doubtful = true
	case string(code) != "0":
		e.kind = failed
	}
}

// endedWell reports whether what Gemini CLI tells its model of a script ends as that of one which has
// ended with code 0. The output of the script comes before, so that a script cannot take back what is
// said of it; one whose output ends like a failure is in doubt.
func endedWell(report string) bool {
	report = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(report), "</untrusted_context>"))
	lines := strings.Split(report, "\n")
	last := len(lines) - 1
	if !strings.HasPrefix(lines[last], "Process Group PGID: ") { // it was cancelled, goes on, or another model has written this
		return false
	}
	for _, line := range slices.Backward(lines[:last]) {
		what, value, _ := strings.Cut(line, ": ")
		switch well, known := endings[what]; {
		case !known: // it is of the output
			return true
		case value != well:
			return false
		}
	}
	return true
}

// endings are the lines after the output of a script, with their text after a success.
var endings = map[string]string{"Error": "(none)", "Exit Code": "0", "Signal": "(none)", "Background PIDs": "(none)"}
