package splice

import (
	"fmt"
	"testing"
)

// TestOrder checks that an entry is restored after its former predecessor, or in place of our
// entry, whatever was inserted in the meantime.
func TestOrder(t *testing.T) {
	json, toml, yaml := Place{Path: []string{"s"}}, Place{Path: []string{"s"}}, Place{Path: []string{"s"}, Named: "name"}
	for _, c := range []struct {
		what, old, edited, want string
		format                  Format
		at                      Place
		names                   []string
	}{
		{
			"ours is gone, one came behind the first", `{"s":{"a":1,"b":2,"c":3}}`, `{"s":{"a":1,"x":9}}`,
			`{"s":{"a":1,"b":2,"x":9}}`, JSON, json, []string{"b"},
		},
		{
			"ours was moved behind a new one", `{"s":{"a":1,"b":2,"c":3}}`, `{"s":{"a":1,"x":9,"petrigate":0,"c":3}}`,
			`{"s":{"a":1,"x":9,"b":2,"c":3}}`, JSON, json, []string{"b"},
		},
		{
			"the first and the last", `{"s":{"a":1,"b":2,"c":3}}`, `{"s":{"petrigate":0,"b":2}}`,
			`{"s":{"a":1,"b":2,"c":3}}`, JSON, json, []string{"a", "c"},
		},
		{
			"all around one that stayed", `{"s":{"a":1,"b":2,"c":3}}`, `{"s":{"b":2}}`,
			`{"s":{"a":1,"b":2,"c":3}}`, JSON, json, []string{"a", "c"},
		},
		{
			"a heading below a comment", "[s.a]\nx = 1\n\n# about b\n[s.b]\nx = 2\n", "[s.a]\nx = 1\n\n[s.new]\nx = 9\n\n[s.petrigate]\nx = 0\n",
			"[s.a]\nx = 1\n\n[s.new]\nx = 9\n\n# about b\n[s.b]\nx = 2\n", TOML, toml, []string{"b"},
		},
		{
			"a key that connect has made, in the first line", "", "s:\n  - name: petrigate\n# mine\nother: 1\n",
			"# mine\nother: 1\n", YAML, yaml, nil,
		},
		{
			"a list whose key is gone", "s:\n  - name: a\n    x: 1\n", "other: 1\n",
			"other: 1\ns:\n  - name: a\n    x: 1\n", YAML, yaml, []string{"a"},
		},
	} {
		old, err := Parse("file", []byte(c.old), c.format)
		if err != nil {
			t.Fatal(c.what, err)
		}
		edited, err := Parse("file", []byte(c.edited), c.format)
		if err != nil {
			t.Fatal(c.what, err)
		}
		got, err := edited.Restore(c.at, old, c.names, "petrigate")
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v, %q, want %q", c.what, err, got, c.want)
		}
	}
}

// TestManyEntries checks that the running time grows linearly with the number of new entries.
func TestManyEntries(t *testing.T) {
	work := func(n int) float64 {
		var add []New
		for i := range n {
			add = append(add, New{Name: fmt.Sprintf("s%d", i), Value: Object{{Key: "command", Value: "x"}}})
		}
		return testing.AllocsPerRun(1, func() {
			d, err := Parse("x", []byte("version: 1\n"), YAML)
			if err == nil {
				_, err = d.Replace(Place{Path: []string{"mcpServers"}}, nil, add...)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	if one, two := work(50), work(100); two > 2.5*one {
		t.Errorf("50 entries: %.0f allocations, 100: %.0f", one, two)
	}
}
