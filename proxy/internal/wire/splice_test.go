package wire_test

import (
	"testing"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

func TestAppendWithout(t *testing.T) {
	tests := []struct{ in, want string }{
		{`{"a":1,"k":2,"b":3}`, `{"a":1,"b":3}`},
		{`{"k":2,"b":3}`, `{"b":3}`},
		{`{"a":1 , "k" : 2}`, `{"a":1}`},
		{`{ "k": {"k":1} }`, `{ }`},
		{`{"a":1}`, `{"a":1}`},
		{`{}`, `{}`},
	}
	for _, test := range tests {
		if got := string(wire.AppendWithout(nil, []byte(test.in), "k")); got != test.want {
			t.Errorf("%s: %s, want %s", test.in, got, test.want)
		}
	}
}
