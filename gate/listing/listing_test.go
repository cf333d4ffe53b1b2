package listing_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/petrigate/petrigate/gate/listing"
	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/gate/toolnet"
)

// checks is a net that lists tools in every possible way.
func checks() *toolnet.Net {
	return &toolnet.Net{
		Free: []string{"help", "read"},
		Transitions: []toolnet.Transition{
			{Tools: []toolnet.Tool{{Name: "read"}, {Name: "read"}, {Name: "git.push"}, {Name: "db_*", Kind: toolnet.Glob}, {Name: "db_*", Kind: toolnet.Glob}}, Unless: toolnet.Tools("db_list")},
			{Tools: []toolnet.Tool{{Name: "git.push", Kind: toolnet.Literal}, {Name: "chat.send", Kind: toolnet.Literal}}},
			{Tools: []toolnet.Tool{{Name: "db_*", Kind: toolnet.Glob}, {Name: "chat.*", Kind: toolnet.Glob, Except: "chat.send"}, {Name: "git.*", Kind: toolnet.Glob, Except: "git.push"}}},
			{},
		},
	}
}

func TestLookup(t *testing.T) {
	l := listing.New(checks())
	physical := func(text string) naming.Label {
		return naming.Label{Text: text, From: naming.FromTool, Certain: true}
	}
	pattern := func(number int) naming.Label {
		return naming.Label{Text: "*", From: naming.FromGlob, Glob: int32(number + 1)}
	}
	for _, c := range []struct {
		name   naming.Label
		want   []int
		free   bool
		except string
	}{
		{name: physical("help"), free: true},
		{name: physical("read"), want: []int{0}, free: true},
		{name: physical("git.push"), want: []int{0, 1}},
		{name: naming.Label{Text: "git.push", From: naming.FromAction}, want: []int{0}},
		{name: physical("chat.send"), want: []int{1}},
		{name: naming.Label{Text: "chat.send", From: naming.FromAction}},
		{name: physical("db_drop")},
		{name: pattern(0), want: []int{0, 2}},
		{name: pattern(1), want: []int{2}, except: "chat.send"},
		{name: pattern(2), want: []int{2}, except: "git.push"},
		{name: pattern(3)},
	} {
		got, free := l.Lookup(&c.name, nil)
		if except := l.Except(&c.name); !slices.Equal(got, c.want) || free != c.free || except != c.except {
			t.Errorf("%+v: %v %v %q, want %v %v %q", c.name, got, free, except, c.want, c.free, c.except)
		}
	}
	for i, quoted := range []bool{false, true, false} {
		if p := l.Patterns()[i]; p.Literal != quoted {
			t.Errorf("%+v", p)
		}
	}
}

func TestManyNames(t *testing.T) {
	var n toolnet.Net
	for i := range 20 {
		n.Transitions = append(n.Transitions, toolnet.Transition{Tools: toolnet.Tools(fmt.Sprint("tool", i))})
		l := listing.New(&n)
		for k := range 21 {
			got, _ := l.Lookup(&naming.Label{Text: fmt.Sprint("tool", k)}, nil)
			if found := slices.Equal(got, []int{k}); found != (k <= i) {
				t.Errorf("tool%d of %d: %v", k, i, got)
			}
		}
	}
}

func TestSpared(t *testing.T) {
	l := listing.New(checks())
	certain := []naming.Label{{Text: "db_list", From: naming.FromTool, Certain: true}}
	if got := l.Spared(certain); !slices.Equal(got, []int{0}) {
		t.Error(got)
	}
	if got := l.Spared([]naming.Label{{Text: "db_list"}}); got != nil {
		t.Errorf("not certain, and spares %v", got)
	}
	none := listing.New(&toolnet.Net{Transitions: make([]toolnet.Transition, 1)})
	if got := none.Spared(certain); got != nil {
		t.Error(got)
	}
	twice := listing.New(&toolnet.Net{Transitions: []toolnet.Transition{{Tools: toolnet.Tools("x")}, {}, {Tools: toolnet.Tools("x")}, {Tools: toolnet.Tools("x")}}})
	all := []int{0, 2, 3}
	for _, c := range []struct{ spared, want []int }{{nil, all}, {[]int{1}, all}, {[]int{0, 3}, []int{2}}, {nil, all}} {
		if got, _ := twice.Lookup(&naming.Label{Text: "x"}, c.spared); !slices.Equal(got, c.want) {
			t.Errorf("without %v: %v", c.spared, got)
		}
	}
}

// TestRegisterNumbersPatterns checks that patterns get the policy's numbers, and calls get the
// names that the net lists and those that exempt them.
func TestRegisterNumbersPatterns(t *testing.T) {
	g := naming.New(nil)
	g.Number(&naming.Pattern{Text: "x*"})
	n := checks()
	n.Transitions[0].Unless = append(n.Transitions[0].Unless, toolnet.Tool{Name: "db_drop.dry"})
	l := listing.New(n)
	l.Register(g)
	c := toolnet.Call{Tool: "db_drop", Args: []byte(`{"action":"dry"}`)}
	var names []string
	ls := g.Labels(&c, naming.Physical(&c, nil), nil)
	for i := range ls {
		names = append(names, ls[i].Text)
	}
	if want := []string{"db_drop", "db_drop.dry", "db_*"}; !slices.Equal(names, want) {
		t.Fatalf("%q, want %q", names, want)
	}
	if got, _ := l.Lookup(&ls[2], nil); ls[2].Glob != 2 || !slices.Equal(got, []int{0, 2}) {
		t.Errorf("%+v: %v", ls[2], got)
	}
}

func TestKnows(t *testing.T) {
	n := checks()
	n.Transitions[1].Observe = true
	l := listing.New(n)
	for _, c := range []struct {
		names []naming.Label
		want  bool
	}{
		{nil, false},
		{[]naming.Label{{Text: "read"}}, false},
		{[]naming.Label{{Text: "read"}, {Text: "read", Certain: true}}, true},
		{[]naming.Label{{Text: "help", Certain: true}}, true},
		{[]naming.Label{{Text: "chat.send", Certain: true}}, false}, // observed only
		{[]naming.Label{{Text: "unheard-of", Certain: true}}, false},
		{[]naming.Label{{Text: "db_*", Glob: 1, Certain: true}}, true},
	} {
		if got := l.Knows(c.names); got != c.want {
			t.Errorf("%+v: %v", c.names, got)
		}
	}
	if !l.OnlyObserve([]int{1}) || l.OnlyObserve([]int{1, 2}) || !l.OnlyObserve(nil) {
		t.Error("other transitions are observers")
	}
}

func TestEvidence(t *testing.T) {
	l := listing.New(&toolnet.Net{Transitions: []toolnet.Transition{
		{Tools: toolnet.Tools("edit"), Observe: true},
		{Tools: toolnet.Tools("build"), Deferred: true},
		{Tools: toolnet.Tools("test", "lint"), Observe: true, Deferred: true},
		{Tools: toolnet.Tools("lint", "vet"), Observe: true, Deferred: true},
	}})
	if got := l.Evidence(); !slices.Equal(got, []string{"test", "lint", "vet"}) {
		t.Error(got)
	}
}

// TestLeftOut checks that a net knows an exempt call unless the exemption is Spared.
func TestLeftOut(t *testing.T) {
	glob := []toolnet.Tool{{Name: "*", Kind: toolnet.Glob}}
	l := listing.New(&toolnet.Net{Transitions: []toolnet.Transition{
		{Tools: glob, Unless: []toolnet.Tool{{Name: "exempt"}, {Name: "left", Spared: true}}},
	}})
	for name, want := range map[string]bool{"any": true, "exempt": true, "left": false} {
		names := []naming.Label{{Text: name, From: naming.FromTool, Certain: true}, {Text: "*", From: naming.FromGlob, Glob: 1, Certain: true}}
		if got := l.Knows(names); got != want {
			t.Errorf("%s is known: %v", name, got)
		}
	}
	all := listing.New(&toolnet.Net{Transitions: []toolnet.Transition{{Tools: toolnet.Tools("any")}}})
	if !all.Knows([]naming.Label{{Text: "any", From: naming.FromTool, Certain: true}}) {
		t.Error("what the net gates is not known")
	}
}
