package draw

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/petri"
)

func one(place int) []petri.Arc { return []petri.Arc{{Place: place, Weight: 1}} }

// backup returns the net for the rule "require backup before delete".
func backup() Net {
	return Net{
		Name: "require-backup-before-delete", From: "safety.rules:1",
		Places: []Place{{Name: "ready", Tokens: 1}, {Name: "saved"}},
		Transitions: []Transition{
			{Name: "do-backup", Tools: []string{"backup"}, In: one(0), Out: one(1), Deferred: true},
			{Name: "do-delete", Tools: []string{"delete"}, In: one(1), Out: one(0)},
		},
	}
}

// zoo returns a net with every feature that a net can have.
func zoo() Net {
	return Net{
		Name:   `zoo "<&>` + "`\\#",
		Places: []Place{{Name: "a", Tokens: 2}, {Name: "b", Tokens: 5, Terminal: true}, {Name: "alone", Tokens: 4}, {Name: "c"}, {Name: "日本"}},
		Transitions: []Transition{
			{Name: "start", In: one(0), Out: one(1)},
			{Name: "ask", Tools: []string{"x", "y"}, Manual: true, In: []petri.Arc{{Place: 1, Weight: 3}}, Out: []petri.Arc{{Place: 1, Weight: 1}, {Place: 3, Weight: 2}}},
			{Name: "watch", Tools: []string{"x"}, Observe: true, In: one(3), Out: one(3)},
			{Name: "many", Tools: []string{"a", "b", "c", "d", "e"}, Never: true, In: one(4)},
			{Name: "back", Tools: []string{"back"}, In: one(3), Out: one(0)},
			{Name: "free", Tools: []string{"ls"}},
		},
	}
}

func ExampleMermaid() {
	if err := Mermaid(os.Stdout, []Net{backup()}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// flowchart LR
	//   subgraph n0["require-backup-before-delete (safety.rules:1)"]
	//     direction LR
	//     n0p0(("ready<br/>●")):::place
	//     n0p1(("saved")):::place
	//     n0t0["backup<br/>on success"]:::call
	//     n0t1["delete"]:::call
	//     n0p0 --> n0t0
	//     n0t0 --> n0p1
	//     n0p1 --> n0t1
	//     n0t1 --> n0p0
	//   end
	//   classDef place fill:#ffffff,stroke:#475569,color:#0f172a
	//   classDef call fill:#e0e7ff,stroke:#4f46e5,color:#0f172a
	//   classDef manual fill:#fef3c7,stroke:#b45309,color:#0f172a
	//   classDef observe fill:#ffffff,stroke:#4f46e5,color:#0f172a,stroke-dasharray:4 3
	//   classDef auto fill:#f1f5f9,stroke:#94a3b8,color:#0f172a
	//   classDef never fill:#fee2e2,stroke:#dc2626,color:#0f172a
}

func ExampleDOT() {
	if err := DOT(os.Stdout, []Net{backup()}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// digraph petrigate {
	//   rankdir=LR; fontname="sans-serif"; node [fontname="sans-serif", fontsize=11]; edge [color="#475569", fontsize=10];
	//   subgraph cluster0 {
	//     label="require-backup-before-delete (safety.rules:1)"; color="#cbd5e1";
	//     n0p0 [shape=circle, fixedsize=true, width=0.45, peripheries=1, label="●", xlabel="ready"];
	//     n0p1 [shape=circle, fixedsize=true, width=0.45, peripheries=1, label="", xlabel="saved"];
	//     n0t0 [shape=box, style="filled", fillcolor="#e0e7ff", color="#4f46e5", label="backup\non success"];
	//     n0t1 [shape=box, style="filled", fillcolor="#e0e7ff", color="#4f46e5", label="delete"];
	//     n0p0 -> n0t0;
	//     n0t0 -> n0p1;
	//     n0p1 -> n0t1;
	//     n0t1 -> n0p0;
	//   }
	// }
}

func ExampleSVG() {
	var picture bytes.Buffer
	if err := SVG(&picture, []Net{backup()}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.Count(picture.String(), "<rect"), "boxes and the sheet")
	// Output: 3 boxes and the sheet
}

func TestEverythingIsShown(t *testing.T) {
	for name, c := range map[string]struct {
		draw func(io.Writer, []Net) error
		want []string
	}{
		"mermaid": {Mermaid, []string{
			`["zoo #quot;#lt;#amp;#gt;#96;#92;#35;"]`, `((("b<br/>5")))`, `"a<br/>●●"`, `"ask<br/>x, y · asks a person"]:::manual`,
			`"start<br/>by itself"]:::auto`, `"watch<br/>x · only watches"]:::observe`, `"many<br/>a, b, c and 2 more · never"]:::never`,
			"n0p1 -->|3| n0t1", "n0t1 --> n0p1", "n0t1 -->|2| n0p3", "n0p3 <--> n0t2",
		}},
		"dot": {DOT, []string{`label="zoo \"<&>` + "`" + `\\#"`, "peripheries=2", `n0p1 -> n0t1 [label="3"];`, "n0p3 -> n0t2 [dir=both];", `style="filled,dashed"`}},
		"svg": {SVG, []string{"zoo &quot;&lt;&amp;&gt;`\\#", ">5</text>", ">asks a person<", ">ls<", `stroke-dasharray`, ">3</text>", "marker-start", ">日本<", `r="12"`}},
	} {
		var b bytes.Buffer
		if err := c.draw(&b, []Net{zoo(), backup()}); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			want = strings.Replace(want, ">asks a person<", "asks a person", 1)
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %s in\n%s", name, want, b.String())
			}
		}
	}
}

func randomNet(r *rand.Rand) Net {
	n := Net{Name: "random"}
	for i := range r.IntN(9) {
		n.Places = append(n.Places, Place{Name: strings.Repeat("p", 1+r.IntN(12)), Tokens: max(0, r.IntN(8)-4), Terminal: i%3 == 0})
	}
	arcs := func() (arcs []petri.Arc) {
		for i := range n.Places {
			if r.IntN(len(n.Places)) < 2 {
				arcs = append(arcs, petri.Arc{Place: i, Weight: 1 + r.IntN(2)})
			}
		}
		return arcs
	}
	for i := range r.IntN(9) {
		n.Transitions = append(n.Transitions, Transition{Name: fmt.Sprint("t", i), Tools: []string{"x"}[:r.IntN(2)], In: arcs(), Out: arcs()})
	}
	return n
}

// TestLayout draws many nets. Nothing must overlap or lie outside the picture, edges must lead from
// left to right, and the SVG must be well-formed.
func TestLayout(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	for range 100 {
		n := randomNet(r)
		l := newLayout(&n)
		for i := range l.nodes {
			a := &l.nodes[i]
			if a.y-a.up < -0.01 || a.y+a.down > l.height+0.01 || a.x+a.width/2 > l.width+0.01 || a.x-a.width/2 < -0.01 {
				t.Fatalf("node %d is outside: %+v", i, a)
			}
			for j := range l.nodes[:i] {
				b := &l.nodes[j]
				if a.layer == b.layer && a.y-a.up < b.y+b.down && b.y-b.up < a.y+a.down {
					t.Fatalf("nodes %d and %d overlap: %+v %+v", i, j, a, b)
				}
			}
		}
		if want := len(n.links()); len(l.edges) != want {
			t.Fatalf("%d edges, want %d", len(l.edges), want)
		}
		for _, e := range l.edges {
			for i := 1; i < len(e.path); i++ {
				if l.nodes[e.path[i]].layer != l.nodes[e.path[i-1]].layer+1 {
					t.Fatalf("edge %+v", e)
				}
			}
			fromPlace := e.path[0] < len(n.Places)
			if e.head != (e.link.in && fromPlace || e.link.out && !fromPlace) || e.tail != (e.link.out && fromPlace || e.link.in && !fromPlace) {
				t.Fatalf("arrows of %+v", e)
			}
		}
		wellFormed(t, []Net{n, n, n})
	}
	wellFormed(t, nil)
	wellFormed(t, []Net{{}})
	wellFormed(t, []Net{zoo(), {Name: "\x00\x1f"}})
}

func wellFormed(t *testing.T, nets []Net) {
	t.Helper()
	var b bytes.Buffer
	if err := SVG(&b, nets); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") || strings.Contains(b.String(), "%!") {
		t.Fatal(b.String())
	}
	d := xml.NewDecoder(&b)
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestSVGIsStable draws a net twice, because a picture in a repository must change only if the net
// changes.
func TestSVGIsStable(t *testing.T) {
	var a, b bytes.Buffer
	for _, w := range []*bytes.Buffer{&a, &b} {
		if err := SVG(w, []Net{zoo(), backup()}); err != nil {
			t.Fatal(err)
		}
	}
	if a.String() != b.String() {
		t.Error("two pictures of one net differ")
	}
}
