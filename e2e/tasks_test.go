package e2e

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTasksSeeNoProxy checks that the official TypeScript SDK reports the same about the life of a
// task through petrigate as without it.
func TestTasksSeeNoProxy(t *testing.T) {
	t.Parallel()
	binary, npm := need(t)
	server := func(t *testing.T) endpoint { return scripts()[0].server(t, npm, "", false) }
	want := heardBy(t, "tasks.mjs", npm, server(t))
	if !strings.Contains(string(want), `"completed"`) || !strings.Contains(string(want), `"interpretation"`) {
		t.Fatalf("the server has no such task: %s", want)
	}
	for _, http := range []bool{false, true} {
		t.Run(kind(http), func(t *testing.T) {
			if got := heardBy(t, "tasks.mjs", npm, wrap(t, binary, server(t), http)); !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// heardBy returns what a client reports to have received. It removes the task's ID from texts.
func heardBy(t *testing.T, script, npm string, e endpoint) []byte {
	t.Helper()
	job, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	out, err := program(t, job, []string{"E2E_PACKAGES=" + npm}, filepath.Join("testdata", script))
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return regexp.MustCompile(`[0-9a-f]{32}`).ReplaceAll(canonical(t, out), []byte("ID"))
}
