package shell_test

import (
	"regexp"
	"testing"

	"github.com/petrigate/petrigate/internal/shell"
)

// TestAdvisedScriptCounts checks that the script in an advice counts, although the original script
// did not.
func TestAdvisedScriptCounts(t *testing.T) {
	written := regexp.MustCompile("(?s)`(.+)`")
	npm := pattern(t, "npm test")
	for script, want := range map[string]string{
		"npm test 2>&1 | tail":                         "set -o pipefail; npm test 2>&1 | tail",
		"cd app && npm test | tee /tmp/x":              "set -o pipefail; cd app && npm test | tee /tmp/x",
		`npm test 2>&1 | grep FAIL || echo "all pass"`: "npm test 2>&1",
		"npm test | tail; echo done":                   "npm test",
		"npm test; git status":                         "npm test",
		"if ! npm test; then exit 1; fi":               "npm test",
		"bash -c 'npm test | tail'":                    "npm test",
		"npm test &\nwait":                             "npm test",
		"if npm test; then echo ok; fi":                "npm test",
	} {
		ok, why := shell.Read(script).Surely(npm)
		got := written.FindStringSubmatch(why.Advice)
		if ok || got == nil || got[1] != want || !surely(shell.Read(got[1]), npm) {
			t.Errorf("%q counts: %v; the advice is to %s", script, ok, why.Advice)
		}
	}
}

// TestAdviceOnOptions checks that the advice suggests -- only if it would change the command.
func TestAdviceOnOptions(t *testing.T) {
	for _, tt := range []struct{ words, script, want string }{
		{"rm -rf", `rm "$F"`, "write the arguments themselves, or -- before them"},
		{"rm -rf", `find . | xargs -a f rm -f`, "write the arguments themselves, or -- before them"},
		{"rm -rf", `rm -r "-$F"`, "write the arguments themselves, or -- before them"},
		{"git push --force", `git push origin "$B"`, "write the arguments themselves"},
		{"mytool --force", `mytool "$B"`, "write the arguments themselves"},
		{"git push", `git "$F"`, "write the subcommand itself"},
	} {
		if _, why := shell.Read(tt.script).Runs(pattern(t, tt.words)); why.Advice != tt.want {
			t.Errorf("runs %s: %q: %q, want %q", tt.words, tt.script, why.Advice, tt.want)
		}
	}
}

// TestOptionArgumentIsNotCalledSubcommand checks that an argument is not called a subcommand if the
// command has none.
func TestOptionArgumentIsNotCalledSubcommand(t *testing.T) {
	for script, want := range map[string]string{`rm "$F"`: "an argument that is not literal", `git "$F"`: "a subcommand that is not literal"} {
		words := map[byte]string{'r': "rm -rf", 'g': "git push --force"}[script[0]]
		if _, why := shell.Read(script).Runs(pattern(t, words)); why.What != want {
			t.Errorf("%q is %s, want %s", script, why.What, want)
		}
	}
}
