package reading_test

import (
	"fmt"
	"testing"

	"github.com/petrigate/petrigate/gate/reading"
	"github.com/petrigate/petrigate/gate/toolnet"
)

// nets read a path (through the key of the net and of a transition), an id in the result, and two
// sums.
func nets() []toolnet.Net {
	amount := toolnet.Sum{Field: toolnet.Field{Path: "$.cost.eur", Source: "cost.eur"}}
	return []toolnet.Net{
		{Key: []toolnet.Field{{Path: "path"}}, Transitions: []toolnet.Transition{{Key: []toolnet.Field{{Path: "id", Result: true}}}, {Key: []toolnet.Field{{Path: "path"}}}}},
		{Sum: &amount},
		{Sum: &amount, Row: true},
	}
}

func ExampleReader() {
	r := reading.New(nets())
	c := toolnet.Call{Tool: "pay", Args: []byte(`{"path":["a","b"],"cost":{"eur":1.50}}`)}
	fmt.Println(r.Call(&c))
	fmt.Println(r.Result([]byte(`{"id":7}`)))
	fmt.Println(r.Fields())
	fmt.Println(r.Name(toolnet.Field{Path: "path", Source: "the path"}))
	fmt.Println(reading.Format([]toolnet.KeyValue{{Field: "path", Value: `"a"`}}))
	// Output:
	// [{path ["a" "b"] } {cost.eur [] 1.50}]
	// [{id [7] }]
	// [path cost.eur] [id]
	// path
	// a
}

// TestNothing checks that absent, doubtful and malformed fields have no values.
func TestNothing(t *testing.T) {
	r := reading.New(nets())
	for _, args := range []string{``, `{}`, `{"path":null,"cost":{"eur":"1"}}`, `{"path":"a","Path":"b","cost":{"eur":-1}}`} {
		if got := r.Call(&toolnet.Call{Tool: "pay", Args: []byte(args)}); len(got) != 0 {
			t.Errorf("%s: %v", args, got)
		}
	}
	for _, result := range []string{``, `{"id":1,"id":2}`, `{}`, `{"id":{}}`} {
		if got := r.Result([]byte(result)); len(got) != 0 {
			t.Errorf("%s: %v", result, got)
		}
	}
}

func TestRows(t *testing.T) {
	if !reading.New(nets()).Rows() {
		t.Error("a net counts rows")
	}
	if r := reading.New(nil); r.Rows() || r.Call(&toolnet.Call{Tool: "x"}) != nil {
		t.Error("nothing counts rows, and nothing is read")
	}
}
