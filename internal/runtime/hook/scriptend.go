package hook

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// exitCode returns the exit code in a result. Some agents encode the result as a string.
func exitCode(result []byte) (code []byte, reported bool) {
	if rawjson.Kind(result) == '"' {
		s, _ := rawjson.String(result)
		if result = []byte(s); rawjson.Check(result, rawjson.MaxDepth) != nil {
			return nil, false
		}
	}
	for _, path := range [...][]string{{"exit_code"}, {"exitCode"}, {"metadata", "exit_code"}} {
		if code, reported = rawjson.MemberAt(result, path...); reported {
			break
		}
	}
	return code, reported
}

// endedWell reports whether a script has succeeded, according to the report that Gemini CLI appends
// to the script's output. It returns false if the report is missing, or if the report contains an
// error, a signal, a background process or an exit code other than 0. A script cannot fake success,
// because the report follows all of its output. It can fake failure by ending its output with lines
// that look like the report of a failure.
func endedWell(report string) bool {
	report = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(report), "</untrusted_context>"))
	lines := strings.Split(report, "\n")
	last := len(lines) - 1
	if !strings.HasPrefix(lines[last], "Process Group PGID: ") { // the report is missing: the script was canceled or is still running, or a model wrote the text
		return false
	}
	for _, line := range slices.Backward(lines[:last]) {
		what, value, _ := strings.Cut(line, ": ")
		switch well, known := endings[what]; {
		case !known: // the whole report has been checked; this line is part of the script's output
			return true
		case value != well:
			return false
		}
	}
	return true
}

// endings maps the labels of the lines in Gemini CLI's report to the values that mean success.
var endings = map[string]string{"Error": "(none)", "Exit Code": "0", "Signal": "(none)", "Background PIDs": "(none)"}
