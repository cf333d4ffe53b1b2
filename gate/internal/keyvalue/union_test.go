package keyvalue_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate/internal/keyvalue"
	"github.com/petrigate/petrigate/gate/toolnet"
)

// values returns values for a key with a single field.
func values(field string, texts ...string) (all []keyvalue.Value) {
	for _, text := range texts {
		all = append(all, keyvalue.Value{Text: text, Named: []toolnet.KeyValue{{Field: field, Value: text}}})
	}
	return all
}

func TestUnion(t *testing.T) {
	a, b, c := values("a", "1", "2"), values("b", "2", "3"), values("c", "3", "1")
	for _, test := range []struct {
		keys []uint64 // in order of addition
		want string
	}{
		{nil, ""},
		{[]uint64{1}, "a=1:1 a=2:1"},
		{[]uint64{1, 1}, "a=1:1 a=2:1"},
		{[]uint64{1, 2}, "a=1:1 a=2:3 b=3:2"},
		{[]uint64{2, 1}, "a=2:3 b=3:2 a=1:1"},
		{[]uint64{1, 2, 4, 2}, "a=1:5 a=2:3 b=3:6"},
		{[]uint64{4, 2, 1}, "b=3:6 a=1:5 a=2:3"},
	} {
		var u keyvalue.Union
		for _, key := range test.keys {
			u.Add(map[uint64][]keyvalue.Value{1: a, 2: b, 4: c}[key], key)
		}
		var got []string
		for i := range u.Values {
			v := &u.Values[i]
			got = append(got, fmt.Sprintf("%s=%s:%d", v.Named[0].Field, v.Text, u.KeysOf(v)))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%v: %s, want %s", test.keys, got, test.want)
		}
	}
	shared := slices.Concat(a, b, c)
	if slices.ContainsFunc(shared, func(v keyvalue.Value) bool { return v.Keys != 0 }) {
		t.Errorf("a union has changed values of its caller: %+v", shared)
	}
}
