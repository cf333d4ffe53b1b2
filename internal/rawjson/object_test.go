package rawjson_test

import (
	"fmt"
	"testing"

	"github.com/petrigate/petrigate/internal/rawjson"
)

func ExampleObject() {
	list := rawjson.Array([]byte(`1.0`), rawjson.Object{}.Bytes())
	fmt.Printf("%s\n", rawjson.Object{}.Raw("list", list).String("say", "\"no\"\n").Bytes())
	fmt.Printf("%s\n", rawjson.Array())
	// Output:
	// {"list":[1.0,{}],"say":"\"no\"\n"}
	// []
}

func TestWithout(t *testing.T) {
	for _, c := range []struct{ from, want string }{
		{`{"a":1,"b":{"a":2}}`, `{"b":{"a":2}}`}, {` { "\u0061" : 1 , "\"" : [ 2 ] } `, `{"\"":[ 2 ]}`}, {`{"a":1}`, `{}`}, {` { "A" : 1 } `, ` { "A" : 1 } `}, {`{}`, `{}`},
		{`["a"]`, `["a"]`}, {``, ``},
	} {
		if got := string(rawjson.Omit([]byte(c.from), []string{"a", "z"})); got != c.want {
			t.Errorf("%s: %s, want %s", c.from, got, c.want)
		}
		if got := string(rawjson.Omit([]byte(c.from), nil)); got != c.from {
			t.Errorf("%s: %s", c.from, got)
		}
	}
}
