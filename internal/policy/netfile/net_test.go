package netfile

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/petri"
)

func ExampleRead() {
	nets, err := Read("water.json", []byte(`{"name": "water", "places": ["H2", "O2", "H2O"], "initial": {"H2": 10, "O2": 5},
		"transitions": [{"name": "burn", "in": [["H2", 2], ["O2", 1]], "out": [["H2O", 2]]}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	a := petri.Analyze(&nets[0].Petri, nets[0].Initial, petri.Options{})
	fmt.Println(nets[0].Name, a.States, a.Bounds)
	// Output: water 6 [10 5 10]
}

func ExampleWritePNML() {
	nets, _ := Read("", []byte("{name: one, places: [p], initialMarking: {p: 1}, transitions: [{name: t, inputs: [p, p], outputs: [p]}]}"))
	if err := WritePNML(os.Stdout, nets); err != nil {
		fmt.Println(err)
	}
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
	//   <net id="net0" type="http://www.pnml.org/version-2009/grammar/ptnet">
	//     <name><text>one</text></name>
	//     <page id="net0-page">
	//       <place id="net0-p0"><name><text>p</text></name><initialMarking><text>1</text></initialMarking></place>
	//       <transition id="net0-t0"><name><text>t</text></name></transition>
	//       <arc id="net0-i0-0" source="net0-p0" target="net0-t0"><inscription><text>2</text></inscription></arc>
	//       <arc id="net0-o0-0" source="net0-t0" target="net0-p0"></arc>
	//     </page>
	//   </net>
	// </pnml>
}

const yamlNet = `
name: pipeline
places: [idle, built]
initialMarking: { idle: 1 }
terminalPlaces: [built]
transitions:
  - { name: build, inputs: [idle], outputs: [built, built], tools: [build] }
`

func pipeline() *Net {
	return &Net{
		Name: "pipeline", Places: []string{"idle", "built"}, Transitions: []string{"build"}, Initial: petri.Marking{1, 0}, Terminal: []int{1},
		Petri: petri.Net{Places: 2, Transitions: []petri.Transition{{In: []petri.Arc{{Place: 0, Weight: 1}}, Out: []petri.Arc{{Place: 1, Weight: 2}}}}},
	}
}

func TestReadTellsTheFormats(t *testing.T) {
	for name, src := range map[string]string{
		"yaml":           yamlNet,
		"yaml list":      "- " + strings.ReplaceAll(strings.TrimSpace(yamlNet), "\n", "\n  "),
		"config as JSON": `{"name":"pipeline","places":["idle","built"],"initialMarking":{"idle":1},"terminalPlaces":["built"],"transitions":[{"name":"build","inputs":["idle"],"outputs":["built","built"]}]}`,
		"plain":          `{"name":"pipeline","places":["idle","built"],"initial":{"idle":1},"terminal":["built"],"transitions":[{"name":"build","in":[["idle",1]],"out":[["built",2]]}]}`,
		"plain, twice":   "\ufeff" + `{"name":"pipeline","places":["idle","built"],"initial":{"idle":1},"terminal":["built"],"transitions":[{"name":"build","in":[["idle",1]],"out":[["built",1],["built",1]]}],"source":"x"}`,
	} {
		nets, err := Read(name, []byte(src))
		if err != nil || len(nets) != 1 {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(pipeline(), nets[0]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestForeign(t *testing.T) {
	for src, want := range map[string]bool{yamlNet: false, pages: true, `{"initial":{}}`: true, `{"name":"x"}`: false, "": false, " {": false} {
		if Foreign([]byte(src)) != want {
			t.Errorf("%.20q: %v", src, !want)
		}
	}
}

const pages = `<?xml version="1.0"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
 <net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet">
  <name><text> two pages </text></name>
  <page id="g1"><name><text>one</text></name>
   <place id="a"><name><text>start</text></name><initialMarking><text> 3 </text></initialMarking></place>
   <place id="b"><name><text>same</text></name></place>
   <transition id="t"/>
   <arc id="x" source="a" target="t"><inscription><text>2</text></inscription></arc>
   <page id="g2">
    <place id="c"><name><text>same</text></name></place>
    <referencePlace id="ra" ref="ra2"/><referencePlace id="ra2" ref="a"/>
    <referenceTransition id="rt" ref="t"/>
    <arc id="y" source="rt" target="c"/>
    <arc id="z" source="rt" target="ra"><type value="normal"/></arc>
   </page>
  </page>
 </net>
</pnml>`

func TestReadPNML(t *testing.T) {
	nets, err := Read("n.pnml", []byte(pages))
	if err != nil {
		t.Fatal(err)
	}
	want := &Net{
		Name: "two pages", Places: []string{"start", "b", "c"}, Transitions: []string{"t"}, Initial: petri.Marking{3, 0, 0},
		Petri: petri.Net{Places: 3, Transitions: []petri.Transition{{
			In: []petri.Arc{{Place: 0, Weight: 2}}, Out: []petri.Arc{{Place: 2, Weight: 1}, {Place: 0, Weight: 1}},
		}}},
	}
	if diff := cmp.Diff(want, nets[0]); diff != "" {
		t.Error(diff)
	}
}

// TestReadLatin1 reads a net that is encoded in Latin-1, as some nets of the Model Checking Contest
// are.
func TestReadLatin1(t *testing.T) {
	nets, err := Read("f", []byte("<?xml version='1.0' encoding='ISO-8859-1'?><pnml><net id='n'><page id='g'>"+
		"<place id='p'><name><text>gr\xfcn</text></name><toolspecific tool='x' version='1'><arctype/></toolspecific></place>"+
		"<transition id='t'><graphics/></transition><arc id='a' source='p' target='t' type='normal'/></page></net></pnml>\n<!-- end -->\n"))
	if err != nil || nets[0].Places[0] != "grün" || len(nets[0].Petri.Transitions[0].In) != 1 {
		t.Errorf("%v: %+v", err, nets)
	}
}

func TestReadSaysWhatIsWrong(t *testing.T) {
	pnml := func(nodes string) string {
		return `<pnml><net id="n"><page id="g"><place id="p"/><transition id="t"/>` + nodes + `</page></net></pnml>`
	}
	for want, src := range map[string]string{
		`f: duplicate place "p"`:                                                                               `{"initial":{},"places":["p","p"]}`,
		`f: the initial marking names the unknown place "q"`:                                                   `{"initial":{"q":1},"places":["p"]}`,
		`f: unknown terminal place "q"`:                                                                        `{"initial":{},"terminal":["q"]}`,
		`f: the place "p" starts with -1 tokens; it can be 0 to 2147483647`:                                    `{"initial":{"p":-1},"places":["p"]}`,
		`f: duplicate transition "t"`:                                                                          `{"transitions":[{"name":"t","in":[]},{"name":"t"}]}`,
		`f: the transition "t" has an arc to the unknown place "q"`:                                            `{"transitions":[{"name":"t","in":[["q",1]]}]}`,
		`f: the arc between "t" and "p" has the weight 0; it can be 1 to 2147483647`:                           `{"places":["p"],"transitions":[{"name":"t","in":[["p",0]]}]}`,
		`f: the arcs between "t" and "p" weigh more than 2147483647 together`:                                  `{"places":["p"],"transitions":[{"name":"t","in":[["p",2147483647],["p",1]]}]}`,
		`f: an arc is ["place", weight], not ["p"]`:                                                            `{"places":["p"],"transitions":[{"name":"t","in":[["p"]]}]}`,
		`f: an arc is ["place", weight], not ["p",1.5]`:                                                        `{"places":["p"],"transitions":[{"name":"t","in":[["p",1.5]]}]}`,
		`f:2:10: places cannot be number`:                                                                      "{\"initial\":{},\n\"places\":1}",
		`f: the file contains no net`:                                                                          `<pnml></pnml>`,
		`f:1: unexpected EOF`:                                                                                  `<pnml>`,
		`f: expected element type <pnml> but have <html>`:                                                      `<html></html>`,
		`f: the net "n" is of the type "x"; only place/transition nets can be read`:                            `<pnml><net id="n" type="x"/></pnml>`,
		`f: the arc "a" is of the type "inhibitor"; only normal arcs can be read`:                              pnml(`<arc id="a" source="p" target="t"><type value="inhibitor"/></arc>`),
		`f: the arc "a" from "p" to "p" does not join a place and a transition`:                                pnml(`<arc id="a" source="p" target="p"/>`),
		`f: the arc "a" from "r" to "t" does not join a place and a transition`:                                pnml(`<referencePlace id="r" ref="r"/><arc id="a" source="r" target="t"/>`),
		`f: the marking of p2 is "x", not a number`:                                                            pnml(`<place id="p2"><initialMarking><text>x</text></initialMarking></place>`),
		`f: the weight of the arc a is "x", not a number`:                                                      pnml(`<arc id="a" source="p" target="t"><inscription><text>x</text></inscription></arc>`),
		`f: duplicate id "p"`:                                                                                  pnml(`<transition id="p"/>`),
		`f: transition 2 has no name`:                                                                          `{"initial":{},"transitions":[{"name":"t","in":[]},{"in":[]}]}`,
		`f: the arc "a" has <arctype>, which a place/transition net does not have`:                             pnml(`<arc id="a" source="p" target="t"><arctype><text>inhibitor</text></arctype></arc>`),
		`f: the arc "a" has type="inhibitor", which a place/transition net does not have`:                      pnml(`<arc id="a" source="p" target="t" type="inhibitor"/>`),
		`f: the place "q" has <capacity>, which a place/transition net does not have`:                          pnml(`<place id="q"><capacity><text>2</text></capacity></place>`),
		`f: the transition "u" has <delay>, which a place/transition net does not have`:                        pnml(`<transition id="u"><delay/></transition>`),
		`f: the net has <inhibitorArc>, which a place/transition net does not have`:                            pnml(`<inhibitorArc id="a" source="p" target="t"/>`),
		"f:2: <pnml> is after the end of the document":                                                         pnml("") + "\n<pnml/>",
		"f:2: text is after the end of the document":                                                           pnml("") + "<!-- fine -->\nx",
		"f:2: unexpected end element </x>":                                                                     pnml("") + "\n</x>",
		`f: xml: opening charset "utf-7": the file is written in utf-7; only UTF-8 and ISO-8859-1 can be read`: `<?xml version="1.0" encoding="utf-7"?><pnml/>`,
	} {
		_, err := Read("f", []byte(src))
		var wrong diag.Problem
		if !errors.As(err, &wrong) || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	for _, src := range []string{"name: [", "{name: x, places: [p, p], transitions: []", "{}", "nets: []", ""} {
		_, err := Read("f", []byte(src))
		var list config.ErrorList
		var wrong diag.Problem
		if !errors.As(err, &list) && !errors.As(err, &wrong) {
			t.Errorf("%q: %v", src, err)
		}
	}
}

// TestPNMLRoundTrip writes nets as PNML and reads them back.
func TestPNMLRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{"p", "<&>\"'", "ä ö", "p0", "t0", "net0-p1", "x y"}
	for range 200 {
		n := &Net{Name: names[r.IntN(len(names))]}
		for i := range 1 + r.IntN(5) {
			n.Places, n.Initial = append(n.Places, fmt.Sprint(names[i%len(names)], i)), append(n.Initial, r.IntN(3))
		}
		n.Petri.Places = len(n.Places)
		for i := range r.IntN(4) {
			n.Transitions = append(n.Transitions, fmt.Sprint("t", i, names[r.IntN(len(names))]))
			var arcs [2][]int
			for range r.IntN(4) {
				arcs[0], arcs[1] = append(arcs[0], r.IntN(len(n.Places))), append(arcs[1], r.IntN(len(n.Places)))
			}
			n.Petri.Transitions = append(n.Petri.Transitions, petri.Transition{In: some(petri.Arcs(arcs[0])), Out: some(petri.Arcs(arcs[1]))})
		}
		var b bytes.Buffer
		if err := WritePNML(&b, []*Net{n, n}); err != nil {
			t.Fatal(err)
		}
		back, err := Read("n.pnml", b.Bytes())
		if err != nil || len(back) != 2 {
			t.Fatalf("%v in %s", err, b.String())
		}
		if !reflect.DeepEqual(back[0], n) || !reflect.DeepEqual(back[1], n) {
			t.Fatalf("%s", cmp.Diff(n, back[0]))
		}
	}
}

// some returns arcs, or nil if there are no arcs.
func some(arcs []petri.Arc) []petri.Arc {
	if len(arcs) == 0 {
		return nil
	}
	return arcs
}

// TestReadCorpus reads the nets used in the engine's tests.
func TestReadCorpus(t *testing.T) {
	files, _ := filepath.Glob("../../petri/testdata/nets/*.json")
	for _, file := range files {
		if filepath.Base(file) == "expected.json" {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		nets, err := Read(file, src)
		if err != nil || nets[0].Name+".json" != filepath.Base(file) {
			t.Errorf("%s: %v", file, err)
		}
	}
	if len(files) == 0 {
		t.Error("there are no nets")
	}
}

// FuzzRead finds inputs that cause panics, and nets that do not survive a round trip through PNML.
func FuzzRead(f *testing.F) {
	f.Add([]byte(yamlNet))
	f.Add([]byte(pages))
	f.Add([]byte(`{"name":"a","places":["p"],"initial":{"p":1},"transitions":[{"name":"t","in":[["p",1]],"out":[]}]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		nets, err := Read("f", src)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WritePNML(&b, nets); err != nil {
			t.Fatal(err)
		}
		back, err := Read("f", b.Bytes())
		if err != nil {
			t.Fatalf("%v in %s", err, b.String())
		}
		for i := range nets {
			if !reflect.DeepEqual(nets[i].Petri, back[i].Petri) && fmt.Sprint(nets[i].Petri) != fmt.Sprint(back[i].Petri) {
				t.Fatalf("%v became %v", nets[i].Petri, back[i].Petri)
			}
		}
	})
}
