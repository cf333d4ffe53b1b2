package argument_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate/internal/argument"
	"github.com/petrigate/petrigate/gate/toolnet"
)

// TestFingerprint checks that the spellings in a line are equal, and that no two lines are.
func TestFingerprint(t *testing.T) {
	lines := [][]string{
		{``, `{}`, ` { } `}, {`[]`}, {`null`}, {`true`}, {`false`}, {`""`}, {`"true"`}, {`0`, `-0.0`, `0e7`}, {`1`, `10e-1`}, {`"1"`},
		{`{"a":1,"b":[2,"c"]}`, ` {"b":[2.0,"\u0063"],"\u0061":1e0} `}, {`{"a":{"b":1}}`}, {`[[1],2]`}, {`[[1,2]]`},
		{`1e99999999999999999999`}, {`2e99999999999999999999`}, {`not JSON`}, {`not  JSON`},
	}
	seen := make(map[string]int)
	for line, spellings := range lines {
		for _, args := range spellings {
			text := argument.Fingerprint(&toolnet.Call{Tool: "x", Args: []byte(args)}, nil)
			if other, ok := seen[text]; ok && other != line {
				t.Errorf("%q is like those of line %d", args, other)
			} else if !ok && args != spellings[0] {
				t.Errorf("%q is not like %q", args, spellings[0])
			}
			seen[text] = line
		}
	}
	for _, c := range []toolnet.Call{{Tool: "y"}, {Tool: "x", Upstream: "u"}, {Upstream: "x"}} {
		if _, ok := seen[argument.Fingerprint(&c, nil)]; ok {
			t.Errorf("%+v is like a call of x", c)
		}
	}
}

// TestIgnored checks that ignored arguments make no difference, however their keys are escaped, but
// only at the top level.
func TestIgnored(t *testing.T) {
	of := func(args string) string {
		return argument.Fingerprint(&toolnet.Call{Tool: "x", Args: []byte(args)}, []string{"note", "ms"})
	}
	for _, same := range []string{`{"run":"a"}`, `{"note":"b","run":"a","ms":1}`, `{ "run" : "a", "no\u0074e" : {"c":[1]} }`} {
		if of(same) != of(`{"run":"a","note":"z"}`) {
			t.Errorf("%s is another call", same)
		}
	}
	for _, other := range []string{`{"run":"b","note":"z"}`, `{}`, `{"run":"a","Note":"z"}`, `{"run":"a","in":{"note":"z"}}`, `{"run":{"note":"z"}}`} {
		if of(other) == of(`{"run":"a","note":"z"}`) {
			t.Errorf("%s is the same call", other)
		}
	}
}

// expression is a reader that has a value, has no value, or panics.
type expression struct{}

func (expression) Value(_ *toolnet.Call, number int) ([]byte, bool) {
	if number == 2 {
		panic("fails")
	}
	return []byte("7"), number == 0
}

func TestAmount(t *testing.T) {
	member, path := toolnet.Field{Path: "n"}, toolnet.Field{Path: "$.at.n"}
	for _, c := range []struct {
		field toolnet.Field
		args  string
		want  string // empty if the call has no amount
	}{
		{member, `{"n":1.50}`, "3/2"}, {member, `{"n": -0.0 }`, "0/1"}, {member, `{"n":1E+2}`, "100/1"}, {member, `{"n":5e-1}`, "1/2"},
		{path, `{"at":{"n":3}}`, "3/1"}, {path, `{"n":3}`, ""},
		{member, `{}`, ""}, {member, ``, ""}, {member, `{"n":"1"}`, ""}, {member, `{"n":[1]}`, ""}, {member, `{"n":-1}`, ""}, {member, `{"n":1,"N":2}`, ""},
		{member, `{"n":1e101}`, ""}, {member, `{"n":1e-101}`, ""}, {member, `{"n":1e99999999999999999999}`, ""}, {member, `{"n":` + strings.Repeat("1", 101) + `}`, ""},
		{toolnet.Field{Reader: expression{}}, `{}`, "7/1"}, {toolnet.Field{Reader: expression{}, Number: 1}, `{}`, ""}, {toolnet.Field{Reader: expression{}, Number: 2}, `{}`, ""},
	} {
		got, written, ok := argument.Amount(&c.field, &toolnet.Call{Args: []byte(c.args)})
		if ok && !strings.Contains(c.args+"7", written) {
			t.Errorf("%s of %s", written, c.args)
		}
		if ok != (c.want != "") || ok && got.String() != c.want {
			t.Errorf("%+v of %s: %v %v, want %q", c.field, c.args, got, ok, c.want)
		}
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct{ field, args, want string }{
		{"a", `{"a":"\u0078 y"}`, "x y"}, {"$.b.c", `{"b":{"c":"z"}}`, "z"}, {"a", `{"a":1}`, ""}, {"a", `{"a":["x"]}`, ""}, {"a", `{}`, ""}, {"", `{"":"x"}`, ""},
	} {
		got, ok := argument.Text(&toolnet.Map{Field: c.field}, &toolnet.Call{Args: []byte(c.args)})
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s of %s: %q, %t", c.field, c.args, got, ok)
		}
	}
}
