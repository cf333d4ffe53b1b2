package toolnet_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate/toolnet"
)

// TestClone checks that changing any part of a copy does not change the original net.
func TestClone(t *testing.T) {
	full := func() *toolnet.Net {
		return &toolnet.Net{
			Places: []string{"a"}, Terminal: []string{"a"}, Free: []string{"x"}, Key: []toolnet.Field{{Path: "p"}},
			Initial: map[string]int{"a": 1}, Recovery: map[string]int{"a": 1},
			Maps:   []toolnet.Map{{Tool: "x"}},
			Phases: []toolnet.Phase{{Place: "a", Tools: toolnet.Tools("x")}},
			Sum:    &toolnet.Sum{Most: 1},
			Transitions: []toolnet.Transition{{
				Name: "t", Inputs: []string{"a"}, Outputs: []string{"a"}, Tools: toolnet.Tools("x"), Unless: toolnet.Tools("x"), Key: []toolnet.Field{{Path: "p"}},
			}},
		}
	}
	n := full()
	c := n.Clone()
	if !reflect.DeepEqual(&c, n) {
		t.Fatalf("%+v", c)
	}
	c.Places[0], c.Terminal[0], c.Free[0], c.Key[0].Path = "", "", "", ""
	c.Initial["a"], c.Recovery["a"], c.Maps[0].Tool, c.Sum.Most = 0, 0, "", 0
	c.Phases[0].Place, c.Phases[0].Tools[0].Name = "", ""
	u := &c.Transitions[0]
	u.Inputs[0], u.Outputs[0], u.Tools[0].Name, u.Unless[0].Name, u.Key[0].Path = "", "", "", "", ""
	u.Name, u.Every = "", time.Second
	if !reflect.DeepEqual(n, full()) {
		t.Errorf("%+v", n)
	}
	if empty := (&toolnet.Net{}).Clone(); !reflect.DeepEqual(empty, toolnet.Net{}) {
		t.Errorf("%+v", empty)
	}
}

func ExampleNet_Clone() {
	once := toolnet.Net{Name: "once", Initial: map[string]int{"budget": 1}}
	twice := once.Clone()
	twice.Name, twice.Initial["budget"] = "twice", 2
	fmt.Println(once.Name, once.Initial, twice.Name, twice.Initial)
	// Output: once map[budget:1] twice map[budget:2]
}
