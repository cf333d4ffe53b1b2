package verify_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestRandomNarrow compares verify with the gate for policies that are each about a single kind of
// field, with many more values than in other tests. The values are still only a sample, so runs
// found in the gate count, but the lack of a run proves nothing.
func TestRandomNarrow(t *testing.T) { try(t, newNarrowTrial, 10) }

// A narrow describes a kind of policy that is about a single kind of field.
type narrow struct {
	maps   []narrowMap
	names  []string // names that rules mention
	exempt []string // names excepted by rules
	tools  []string // tools that are called
	fields []argument
	known  []verify.Tool
}

// A narrowMap describes a kind of map: how many such maps a policy has at least and at most, and
// their contents.
type narrowMap struct {
	least, most int
	format      string
	words       [][]string
}

// An argument holds the possible values of an argument, in JSON. An empty value means that the
// argument is missing.
type argument struct {
	name   string
	values []string
}

var narrowKinds = []narrow{
	{ // actions, some matched by a common part
		maps: []narrowMap{{1, 3, "map a.action %s as %s", [][]string{
			{"go", "st", "/^[f-h]o/", "/^[n-z][a-z.]*o/", "/o/", "runs go", "runs st", "/^$/", "/g.*s/", "/^a/", "/ /", "1"}, {"m", "n", "o"},
		}}},
		names:  []string{"a", "m", "n", "o", "a.go", "a.*", "a.g*", "a.?", "*.go", "*", "a.st", "a*", "pay", "a.*o*", "a.?*"},
		exempt: []string{"m", "n", "a.go", "a.g*", "a.?", "*.go", "a.*o*"},
		tools:  []string{"a", "pay", "x"},
		fields: []argument{{"action", slices.Concat(texts("goz", 2), values(
			`"go st","st","so","rso","st go","gos","az","azo","gs","true","go; st","go; true","a go","1","no.o","fo","fo st"`,
			`["go"],["st"],["go","st"],["st","go"],["g","so"],[],1,[1,"go"],{"k":"go"},{},[""],["fo","st"],["az"],["rso"]`,
		))}},
	},
	{ // paths into one field, and the field itself
		maps: []narrowMap{{1, 3, "map a.%s %s as %s", [][]string{
			{"$.r.k", "$.r[*].k", "$.r", "r", "$.r[0]", "$.r[*]", "$.r.k.j", `$.r["k"]`, "$.r[1].k", "$[0]", "$.action", "$.action.k"},
			{"x", "y", "/x.y/", "/^[xy]$/", "runs x", "runs y", "1", "/^$/", "true"}, {"m", "n", "o"},
		}}},
		names:  []string{"a", "m", "n", "o", "m", "n", "o", "pay", "*", "a.x", "a.*"},
		exempt: []string{"m", "n", "o", "a.x", "a.*"},
		tools:  []string{"a", "pay", "x"},
		fields: []argument{
			{"r", values(
				`"x","y","x y","xy","",1,true,null,"x; true","x; y","$x"`,
				`{"k":"x"},{"k":"y"},{"k":"x y"},{"k":""},{"k":1},{"k":["x","y"]},{"k":{"j":"x"}},{"k":{"j":["x"]}},{"k":{"k":"x"}},{"k":null}`,
				`["x"],["x","y"],["y","x"],[{"k":"x"}],[{"k":"x"},{"k":"y"}],[{"k":"y"},{"k":"x"}],[],[{"k":"x"},"y"],["y",{"k":"x"}],[["x"],"y"]`,
			)},
			{"action", values(`"x",{"k":"x"},["x"]`)},
		},
	},
	{ // conditions
		maps: []narrowMap{
			{1, 3, "map a when %q as %s", [][]string{
				{"args.n > 5", "args.n > 10", "args.n < 7", "has(args.n)", "args.s == 'x'", "args.s.startsWith('x')", "size(args.l) > 1",
					"args.n > 5 && args.s == 'x'", "tool == 'a'", "args.f == 'ls'", "!has(args.f)", "args.o.p == 1"}, {"m", "n", "o"},
			}},
			{0, 1, "map a.f %s as %s", [][]string{{"ls", "runs ls", "runs rm"}, {"m", "n", "p"}}},
		},
		names:  []string{"a", "m", "n", "o", "m", "n", "o", "p", "pay", "*"},
		exempt: []string{"m", "n", "p", "a"},
		tools:  []string{"a", "pay", "x"},
		fields: []argument{
			{"n", values(`1,6,8,11,"z",[1]`)}, {"s", values(`"x","xy","y",3`)}, {"f", values(`"ls","rm","ls; rm",["ls"],"ls; true"`)},
			{"l", values(`[1,2],[]`)}, {"o", values(`{"p":1},{"p":2},1`)},
		},
	},
	{ // more maps of the same field than are enumerated in advance
		maps: []narrowMap{
			{5, 9, "map a.f %s as %s", [][]string{{"ls", "rm", "zz", "/z/", "/ls|rm/", "/^ls/", "runs ls", "runs rm",
				"runs git push", "runs git", "runs sudo", "runs sh -c", "k1", "k2", "k3"}, {"m", "n", "o", "p", "q", "r"}}},
			{0, 1, "map a.s %s as %s", [][]string{{"runs ls", "x", "/x/"}, {"m", "n", "o", "p", "q", "r"}}},
		},
		names:  []string{"m", "n", "o", "p", "q", "r", "a", "pay", "*", "m", "n", "o"},
		exempt: []string{"m", "n", "o", "p", "q", "r", "a"},
		tools:  []string{"a", "pay", "x"},
		fields: []argument{
			{"f", values(
				`"ls","rm","zz","z","lsx","ls zz","rm zz","zz ls","ls; rm","ls; rm zz","git push","git pull","git push zz","sudo ls","sudo rm zz"`,
				`"sh -c ls","sh -c 'rm zz'","ls; ls","ls zz; true","$x","ls k1 k2","rm k1 k3","k1","k2 k3","git push k1","true","ls; git push"`,
				`"rm; git push zz",["ls"],["zz","rm"],["k1","ls"],["git push"],["ls k1 k2 k3 rm zz git push"]`,
			)},
			{"s", values(`"ls","x","true",["x"]`)},
		},
	},
	{ // patterns
		names: []string{"a*", "*b", "?", "??", "a?", "?b", "*a*", "a.*", "*.go", "*.g?", "a*.go", "*b.*", "?.?", "*.*", "a", "ab", "ba",
			"b.go", "a.b", "ax", "*", "pay", "a.?", "*.?", "a?.*", "*a.g*", "p*", "*o"},
		exempt: []string{"a*", "*b", "?", "??", "a?", "?b", "*a*", "a.*", "*.go", "*.g?", "a*.go", "*b.*", "?.?", "*.*", "a", "ab", "b.go", "a.b", "p*"},
		tools: []string{"pay", "a", "b", "x", "aa", "ab", "ax", "ba", "bb", "bx", "xa", "xb", "xx", "aaa", "aab", "aba", "abb", "abx", "axb",
			"baa", "bab", "xab", "xxb", "xxx", "p", "q", "o", "ao"},
		fields: []argument{{"action", slices.Concat(texts("gox", 2), values(`"b",["go"],["b","go"],"b.go"`))}},
	},
	{ // tools with several names
		maps:   []narrowMap{{0, 2, "map %s.f %s as %s", [][]string{{"a", "gh_a", `"gh.a"`}, {"x", "runs x", "y", "/y/"}, {"m", "n"}}}},
		names:  namesOfHub,
		exempt: namesOfHub,
		tools:  []string{"gh_a", "b", "pay", "gh_q", "q", "ax"},
		fields: []argument{
			{"action", slices.Concat(texts("gox", 2), values(`["go"],["g","o"],"a"`))},
			{"f", values(`"x","y","x y","x; y",["x"],"x; true"`)},
		},
		known: []verify.Tool{{Name: "gh_a", Also: canonical("gh_a")}, {Name: "b"}, {Name: "pay"}},
	},
	{ // more maps of actions than can be tried in all combinations
		maps: []narrowMap{{4, 10, "map a.action %s as %s", [][]string{
			{"go", "st", "/^[f-h]o/", "/o/", "k1", "k2", "k3", "k4", "/k/", "/g.*k/", "k5", "k6", "runs go"}, {"m", "n", "o", "p", "q", "r"},
		}}},
		names:  []string{"a", "m", "n", "o", "p", "q", "r", "a.go", "a.*", "a.k*", "a.k1", "*", "pay", "a.*2"},
		exempt: []string{"m", "a.go", "a.k*", "a.k1", "a.*2"},
		tools:  []string{"a", "pay", "x"},
		fields: []argument{{"action", values(
			`"go","st","fo","o","k1","k2","go k1","k1 k2","go k1 k2","k3 k4 k5 k6","k5","k5 go","ho","ho k1","go st","k","k9","x2","k92"`,
			`"go; k1","true","go k6","st k5",["go"],["k1","go"],["k5"],["ho","k2"],["k1","k2"],1`,
		)}},
	},
}

var namesOfHub = []string{"a", "gh_a", "gh.a", "m", "n", "a.go", "gh_a.go", "gh.a.go", "*.go", "a.*", "gh_*", "gh.*", "b", "pay", "*",
	"a.g?", "gh_a.?o", "gh.a.g*", "?", "gh.?"}

// values returns the empty value and the values in the lists.
func values(lists ...string) []string {
	var raw []json.RawMessage
	if err := json.Unmarshal([]byte("["+strings.Join(lists, ",")+"]"), &raw); err != nil {
		panic(err) // a misspelling in the table above
	}
	out := []string{""}
	for _, v := range raw {
		out = append(out, string(v))
	}
	return out
}

// texts returns all texts that consist of the given letters and have at most the given length, in
// JSON.
func texts(letters string, length int) []string {
	out, last := []string{`""`}, []string{""}
	for range length {
		var longer []string
		for _, text := range last {
			for _, letter := range letters {
				longer = append(longer, text+string(letter))
				out = append(out, fmt.Sprintf("%q", text+string(letter)))
			}
		}
		last = longer
	}
	return out
}

func newNarrowTrial(t *testing.T, seed uint64) *trial {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 991))}
	kind := narrowKinds[seed%uint64(len(narrowKinds))]
	src := g.narrowRules(kind)
	for _, n := range kind.names {
		if !strings.ContainsAny(n, "*?") && (!strings.Contains(n, ".") || slices.Contains(strings.Fields(src), n)) {
			g.names = append(g.names, n) // the gate ignores actions that no rule names
		}
	}
	tools, known := kind.tools, toolsKnown(seed)
	if !known {
		tools = append(slices.Clone(tools), "m", "n", "o", "a.x", "a.go")
	}
	o := verify.Options{Tools: kind.known}
	if seed%3 == 0 {
		o.LimitInventions(30) // so that names are synthesized for each question
	}
	return g.trial(&trial{t: t, seed: seed, rules: src, known: known, calls: callsOf(tools, kind.fields), alone: true, sampled: true, o: o})
}

// callsOf returns calls of all tools with all values of the fields.
func callsOf(tools []string, fields []argument) []gate.Call {
	args := []string{""}
	for _, f := range fields {
		var longer []string
		for _, a := range args {
			for _, v := range f.values {
				longer = append(longer, strings.TrimPrefix(a+field(f.name, v), ","))
			}
		}
		args = longer
	}
	var calls []gate.Call
	for _, tool := range tools {
		for _, a := range args {
			calls = append(calls, gate.Call{Tool: tool, Also: canonical(tool), Others: upstreamTools, Args: []byte("{" + a + "}")})
		}
	}
	return calls
}

func (g *generator) narrowRules(kind narrow) string {
	var out []string
	for _, m := range kind.maps {
		for range m.least + g.IntN(m.most-m.least+1) {
			var words []any
			for _, from := range m.words {
				words = append(words, g.pick(from...))
			}
			out = append(out, fmt.Sprintf(m.format, words...))
		}
	}
	for range 2 + g.IntN(3) {
		rule := g.narrowRule(kind.names)
		if g.IntN(2) == 0 {
			rule += " unless " + g.pick(kind.exempt...)
		}
		out = append(out, rule)
	}
	return strings.Join(out, "\n") + "\n"
}

func (g *generator) narrowRule(names []string) string {
	name, other := g.pick(names...), g.pick(names...)
	switch g.IntN(9) {
	case 0, 1, 2:
		return fmt.Sprintf("require %s before %s%s", name, g.pick("pay", "pay", other), g.pick("", "", " once"))
	case 3:
		return fmt.Sprintf("limit %s to %d per session", name, 1+g.IntN(2))
	case 4:
		return fmt.Sprintf("limit %s to 1 per %s%s", g.pick("pay", other), g.pick("", "successful "), name)
	case 5:
		return fmt.Sprintf("require human-approval before %s", name)
	}
	return fmt.Sprintf("block %s", name)
}
