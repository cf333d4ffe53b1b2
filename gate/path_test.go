package gate_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
)

func TestPathsOfMaps(t *testing.T) {
	for _, c := range []struct {
		field, args, want string
	}{
		{"$.a.b", `{"a":{"b":"x"}}`, "t! hit"},
		{"$.a.b", `{"a":{"b":["x"]}}`, "t! hit~"},
		{"$.a.b", `{"a":{"b":"y"},"b":"x"}`, "t!"},
		{"$.a.b", `{"a":["x"]}`, "t! hit~"},
		{"$.a.b", `{"a":[{"b":"x"}]}`, "t! hit~"},
		{"$.a.b", `{"a":"{\"b\":\"x\"}"}`, "t! hit~"},
		{"$.a.b", `{"a":null}`, "t!"},
		{"$.a.b", `{"a":{"c":"x"}}`, "t!"},
		{"$[0]", `{"a":"x"}`, "t! hit~"},
		{"$.a.b", `{"a.b":"x"}`, "t!"},
		{"$.a[1]", `{"a":["x","y"]}`, "t!"},
		{"$.a[1]", `{"a":["y","x","y"]}`, "t! hit"},
		{"$.a[1]", `{"a":{"1":"x"}}`, "t! hit~"},
		{"$.a[1]", `{"a":["x"]}`, "t!"},
		{"$.a[*].p", `{"a":[{"p":"y"},{"q":"x"},{"p":"x"}]}`, "t! hit~"},
		{"$.a[*]", `{"a":["x"]}`, "t! hit~"},
		{"$.a[*]", `{"a":[]}`, "t!"},
		{"$.a[*]", `{"a":"x"}`, "t! hit~"},
		{"$.a[*].p", `{"a":{"p":"x"}}`, "t! hit~"},
		{"$.a[*].p", `{"a":[[{"p":"x"}],{"q":"y"}]}`, "t! hit~"},
		{`$["a"]["b.c"]`, `{"a":{"b.c":"x"}}`, "t! hit"},
		{"a", `{"A":"x"}`, "t! hit~"},
		{"a", `{"A":"x","a":"y"}`, "t! hit~"},
		{"a", `{"A":"y","a":"x"}`, "t! hit~"},
		{"a", `{"a":"x","A":null}`, "t! hit~"},
		{"a", `{"A":{"b":["x"]}}`, "t! hit~"},
		{"a", `{"A":"y"}`, "t!"},
		{"task", `{"ta\u017f\u212a":"x"}`, "t! hit~"},
		{"$.a.b", `{"A":{"b":"x"}}`, "t! hit~"},
		{"$.a.b", `{"a":{"b":"x"},"A":{}}`, "t! hit~"},
		{"$.a.b", `{"a":{"b":"y","B":"x"}}`, "t! hit~"},
		{"$.a.b", `{"a":{"b":"x","c":{"B":"y"}},"B":"y"}`, "t! hit"},
		{"$.a[1].b", `{"a":["y",{"b":"y","B":"x"}]}`, "t! hit~"},
		{"$.a[*].b", `{"A":[{"b":"y"},{"B":"x"}]}`, "t! hit~"},
	} {
		m := gate.Map{Tool: "t", Field: c.field, As: "hit", Source: "x", Match: contains("x")}
		p, err := gate.NewPolicy([]gate.Net{blockNet("hit")}, gate.PolicyOptions{Labels: labels(m)})
		if err != nil {
			t.Fatal(err)
		}
		if got := spell(p.Names(call("t " + c.args))); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.field, c.args, got, c.want)
		}
	}
}
