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
		"clients cannot be sent to the page of an approval":                                             "the console has no address, or the proxy ends",
		"%s was found in a directory and only read as text: nothing that it names is started or opened": "verbs that open what a configuration names do not read it as text",
		"cannot write the head beside the audit log: records removed at the end will not be detected":   "root, as whom tests may run, writes everywhere",

		"the proxy is ending": "the console is opened in the instant in which the proxy ends",
		"changed files are not noticed; petrigate reload reads them":          watching,
		"a change of files may have been missed; petrigate reload reads them": watching,
		"changes in a folder are not noticed; petrigate reload reads them":    watching,
	}
	messagetest.CheckCalls(t, []string{"errors.New", "fmt.Errorf", ".Warn", ".Error"}, shown, except, "*.go")
}
