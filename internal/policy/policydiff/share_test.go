package policydiff

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/soak"
)

// A pair holds two versions of a random policy and the calls to try on them.
type pair struct {
	lines [2][]string
	deny  bool
	calls []gate.Call
}

// themes lists subjects for random policies: names, maps, and arguments of calls.
var themes = []struct {
	names, maps []string
	args        []string
}{
	{names: []string{"a", "b", "c", "d"}},
	{names: []string{"a", "b", "ab", "a*", "*b", "*", "?"}},
	{names: []string{"a", "a.go", "a.stop", "b.go", "a.*", "*.go", `"a.go"`}, args: []string{`{"action":"go"}`, `{"action":"stop"}`, `{"action":["go","stop"]}`}},
	{
		names: []string{"a", "b", "m", "n", "o"},
		maps:  []string{"map a.f x as m", "map a.f y as n", "map a.f /[xz]/ as n", "map b.f x as m", "map a.g x as o", "map a.f x y as o"},
		args:  []string{`{"f":"x"}`, `{"f":"y"}`, `{"f":"z"}`, `{"f":"x y"}`, `{"f":["x"]}`, `{"g":"x"}`, `{"f":"y","g":"x"}`, `{"f":"x y","g":"x"}`},
	},
	{
		names: []string{"a", "m", "n", "o", "c"},
		maps:  []string{"map a.f runs rm as m", "map a.f runs git push as n", "map a.f runs ls as o", "map a.f runs git as o", "map a.f runs make as n", "map a.f rm as o"},
		args:  []string{`{"f":"rm x"}`, `{"f":"git push"}`, `{"f":"git status"}`, `{"f":"ls; rm x"}`, `{"f":"ls; git push; rm x"}`, `{"f":"$x"}`, `{"f":["rm"]}`, `{"f":"make"}`, `{"f":"rm --help"}`},
	},
	{
		names: []string{"pay", "m", "n", "c"},
		maps:  []string{`map pay when "args.amount > 100.0" as m`, `map pay when "args.to == 'eve'" as n`, `map pay when "args.amount > 1000.0" as n`},
		args:  []string{`{"amount":50.0,"to":"bob"}`, `{"amount":500.0,"to":"eve"}`, `{"amount":5000.0,"to":"bob"}`, `{"amount":5000.0,"to":"eve"}`},
	},
}

// randomPair returns a random policy and the result of one or two mutations.
func randomPair(g *rand.Rand) *pair {
	theme := &themes[g.IntN(len(themes))]
	pick := func(from ...string) string { return from[g.IntN(len(from))] }
	name := func() string { return pick(theme.names...) }
	line := func() string {
		unless := ""
		if g.IntN(6) == 0 {
			unless = " unless " + name()
		}
		if len(theme.maps) > 0 && g.IntN(3) == 0 {
			return pick(theme.maps...)
		}
		switch g.IntN(12) {
		case 0, 1, 2:
			return fmt.Sprintf("require %s before %s%s%s", name(), name(), pick("", "", " once"), unless)
		case 3, 4:
			return fmt.Sprintf("limit %s to %d per session%s", name(), 1+g.IntN(4), unless)
		case 5, 6:
			return fmt.Sprintf("limit %s to %d per %s%s%s", name(), 1+g.IntN(3), pick("", "successful "), name(), unless)
		case 7:
			return fmt.Sprintf("limit %s to %d per %s%s", name(), 1+g.IntN(3), pick("minute", "hour"), unless)
		case 8, 9:
			return fmt.Sprintf("require human-approval before %s%s", name(), unless)
		case 10:
			return fmt.Sprintf("shadow block %s", name())
		default:
			return fmt.Sprintf("block %s%s", name(), unless)
		}
	}
	p := &pair{deny: g.IntN(8) == 0}
	for range 1 + g.IntN(6) {
		p.lines[0] = append(p.lines[0], line())
	}
	p.lines[1] = slices.Clone(p.lines[0])
	for range 1 + g.IntN(2) {
		lines := p.lines[1]
		switch i := g.IntN(len(lines) + 1); {
		case i == len(lines) || g.IntN(3) == 0:
			p.lines[1] = append(lines, line())
		case g.IntN(2) == 0:
			p.lines[1] = slices.Delete(lines, i, i+1)
		default:
			lines[i] = line()
		}
	}
	for _, tool := range append([]string{"other"}, theme.names...) {
		if strings.ContainsAny(tool, `*?"`) {
			continue
		}
		p.calls = append(p.calls, gate.Call{Tool: tool})
		for _, args := range theme.args {
			p.calls = append(p.calls, gate.Call{Tool: tool, Args: []byte(args)})
		}
	}
	return p
}

func (p *pair) String() string {
	return fmt.Sprintf("deny %v\n%s\n--\n%s\n", p.deny, strings.Join(p.lines[0], "\n"), strings.Join(p.lines[1], "\n"))
}

// compare compares the pair. It returns nil if a version is invalid.
func (p *pair) compare(t *testing.T) *Comparison {
	var sides [2]*Side
	for i, lines := range p.lines {
		source := policy.Source{Rules: []config.RuleText{{File: "p.rules", Text: strings.Join(lines, "\n") + "\nshadow block nothing\n"}}}
		if p.deny {
			source.Default = "deny"
		}
		result, err := policy.Build(source)
		if err != nil {
			return nil
		}
		if sides[i], err = NewSide(result, source); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Compare(sides[0], sides[1], 20_000, func() bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestShareOfCompleteDiffs compares random policies with the results of one or two mutations. Nine
// out of ten comparisons must be complete, all others must give their reasons, and the gate must
// not contradict any of them.
func TestShareOfCompleteDiffs(t *testing.T) {
	from, count := soak.Range(t, 80)
	results, reasons := make(map[string]int), make(map[string]int)
	all, complete := 0, 0
	for seed := from; seed < from+uint64(count); seed++ {
		g := rand.New(rand.NewPCG(seed, 77))
		p := randomPair(g)
		d := p.compare(t)
		if d == nil {
			continue
		}
		all++
		results[d.result()]++
		if d.Complete {
			complete++
		} else {
			reasons[cmp.Or(d.why, "no reason")]++
		}
		if known := []string{"equal", "stricter", "looser"}; !d.Complete && slices.Contains(known, d.result()) {
			t.Errorf("seed %d: %s, and not complete", seed, d.result())
		}
		stricter, looser := walkedWith(g, d, p.calls)
		if d.Complete && (stricter && d.Stricter == nil || looser && d.Looser == nil) {
			t.Fatalf("seed %d: diff says %s, calls show stricter %v, looser %v\n%s", seed, d.result(), stricter, looser, p)
		}
	}
	t.Logf("%d pairs, %d complete: %v; why not: %v", all, complete, results, reasons)
	if 10*complete < 9*all {
		t.Errorf("%d of %d comparisons are complete", complete, all)
	}
}
