package policytest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCoverage exercises parts of a policy that contains all kinds of nets.
func TestCoverage(t *testing.T) {
	dir := folder(t, `petrigate.yaml
version: 1
mcpServers: {m: {url: http://localhost/}}
rules: |
  map sh.c rm as rm
  map sh.c ls as ls
  block rm
  # a comment
  require human-approval before ls
  limit push to 2 per read
nets:
  - file: a.net.yaml
active: [looking, flow]
`, `a.net.yaml
- name: looking
  freeTools: [look]
- name: flow
  places: [a, b, c]
  initialMarking: {a: 1}
  map: [{tool: sh, field: c, pattern: go, as: going}]
  transitions:
    - {name: self, inputs: [c], outputs: [a]}
    - {name: go, inputs: [a], outputs: [b], tools: [going], deferred: true}
    - {name: on, inputs: [b], outputs: [c], tools: [on]}
    - {name: dead, inputs: [a, b], outputs: [a, b], tools: [on]}
- name: sleeping
  freeTools: [sleep]
`)
	f, err := Parse(filepath.Join(dir, "p_test.yaml"), []byte(`tests:
- name: t
  steps:
  - {call: look}
  - {call: sh, args: {c: go}, result: failure}
  - {call: sh, args: {c: ls}, expect: ask}
  - {call: push}
  - {call: read}
`))
	if err != nil {
		t.Fatal(err)
	}
	l := Loader{Cover: true}
	p, err := l.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	if r := p.Run(&f.Tests[0]); r.Failure != nil {
		t.Fatalf("%+v", r.Failure)
	}
	c := l.Coverage()
	var got strings.Builder
	for _, i := range c.Items {
		fmt.Fprintf(&got, "%s %s %s %s:%d %d\n", i.Kind, i.Net, i.Name, filepath.Base(i.Rule.File), i.Rule.Line, i.Hits)
	}
	want := `rule block-rm  petrigate.yaml:6 0
rule approve-before-ls  petrigate.yaml:8 1
transition approve-before-ls approve petrigate.yaml:8 0
rule limit-push-2-per-read  petrigate.yaml:9 0
transition limit-push-2-per-read do-push petrigate.yaml:9 1
transition limit-push-2-per-read refill petrigate.yaml:9 1
rule looking  a.net.yaml:1 1
rule flow  a.net.yaml:3 0
transition flow go a.net.yaml:9 0
transition flow on a.net.yaml:10 0
map flow going a.net.yaml:6 1
map  rm petrigate.yaml:4 0
map  ls petrigate.yaml:5 1
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
	if c.Percent != 46 || c.Done != 6 {
		t.Errorf("%d%%, %d items", c.Percent, c.Done)
	}
	if newCoverage(nil).Percent != 100 {
		t.Error("nothing is not covered whole")
	}
}
