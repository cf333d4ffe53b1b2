package daemon

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryError finds errors and warnings that no test and no script of the program covers.
func TestEveryError(t *testing.T) {
	shown := messagetest.Text(t, "../../../cmd/petrigate/testdata/script/*.txtar") +
		messagetest.Text(t, "../../../cmd/petrigate/testdata/*.txt") +
		messagetest.Tables(t, "*_test.go") + messagetest.Tables(t, "../../../cmd/petrigate/*_test.go")
	const watching = "the system fails to watch files"
	except := map[string]string{
		"clients cannot be sent to the page of an approval":                                                 "the console has no address, or the proxy ends",
		"%s was found in a directory and only read as text: nothing that it names is started or opened":     "verbs that open what a configuration names do not read it as text",
		"cannot write the head next to the audit log: a removal of the latest records will not be detected": "root, as whom tests may run, writes everywhere",

		"the proxy is shutting down":                                             "the console is opened just as the proxy ends",
		"cannot watch files for changes; run petrigate reload after a change":    watching,
		"changes to files may have been missed; run petrigate reload":            watching,
		"cannot watch a folder for changes; run petrigate reload after a change": watching,
	}
	messagetest.CheckCalls(t, []string{"errors.New", "fmt.Errorf", ".Warn", ".Error"}, shown, except, "*.go")
}
