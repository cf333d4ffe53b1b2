package toolnet_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate/toolnet"
)

func TestConditionsAreAboutPhysicalNames(t *testing.T) {
	c := toolnet.Call{Tool: "run", Also: []toolnet.Name{{Text: "shell.run"}, {Text: "bash", Weak: true}}}
	for _, s := range []struct {
		toolnet.Condition
		about bool
	}{
		{toolnet.Condition{Tool: "run"}, true},
		{toolnet.Condition{Tool: "bash"}, true},
		{toolnet.Condition{Tool: "shell.*", Glob: true}, true},
		{toolnet.Condition{Tool: "shell.*"}, false},
		{toolnet.Condition{Tool: "other"}, false},
	} {
		if s.AboutCall(&c) != s.about {
			t.Errorf("%v is about the call: %v", s.Condition, !s.about)
		}
	}
}
