package shell

import (
	"reflect"
	"strings"
	"testing"
)

// TestPlans checks what programs do with their arguments, as data.
func TestPlans(t *testing.T) {
	words := func(text string) []arg { return literals(strings.Fields(text)) }
	sudo, ssh := wrappers["sudo"], wrappers["ssh"]
	for name, tt := range map[string]struct{ got, want plan }{
		"git bisect": {readGit(words("-C d bisect run make test")), plan{
			{do: runsCommand, args: words("make test")},
			{do: runsAlias, what: "bisect", args: words("run make test")},
		}},
		"find": {readFind(words(". -exec rm {} ;"), false), plan{
			{do: runsCommand, args: []arg{{text: "rm"}, {kind: single, name: true}}},
		}},
		"xargs": {readXargs(words("-n 1 rm"), false), plan{
			{do: runsCommand, args: []arg{{text: "rm"}, {kind: anything}}},
		}},
		"sudo": {sudo.read("sudo", words("-b X=1 rm y")), plan{
			{do: inBackground},
			{do: givesVariable, what: "X", args: words("1")},
			{do: passesCommand, args: words("rm y")},
		}},
		"ssh": {ssh.read("ssh", words("host -p 22 rm x")), plan{
			{do: runsElsewhere, args: words("rm x")},
		}},
		"python": {readInterpreter("python", words("-u x.py")), plan{
			{do: runsFile, args: words("x.py")},
		}},
		"sed": {readSed(words("-e s/a/b/e x")), plan{
			{reach: inText, what: "an unsupported sed script", args: words("-e s/a/b/e x")},
		}},
	} {
		if !reflect.DeepEqual(tt.got, tt.want) {
			t.Errorf("%s: %+v, want %+v", name, tt.got, tt.want)
		}
	}
}
