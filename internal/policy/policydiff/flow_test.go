package policydiff

import (
	"fmt"
	"strings"
)

// A flow is a hand-written net with two places.
type flow struct{ head, there, back, tail string }

func (w *scribe) flow() *flow {
	name := func() string { return w.pick("a", "b", "c") }
	f := &flow{
		head:  w.maybe(3, "key: [f]\n") + w.maybe(4, "scope: principal\n"),
		there: w.maybe(2, ", deferred: true") + w.maybe(4, ", observe: true", ", type: manual", ", type: manual, approvals: 2"),
		back:  w.maybe(3, ", observe: true", ", deferred: true", ", type: manual"),
	}
	if len(w.of.each) == 0 {
		f.head = strings.TrimPrefix(f.head, "key: [f]\n")
	}
	if strings.Contains(f.there, "observe") {
		f.there = strings.TrimPrefix(f.there, ", deferred: true") + w.maybe(3, ", deferred: true")
	}
	there := name()
	f.there = fmt.Sprintf("tools: [%s]%s", there, f.there)
	if !strings.Contains(f.there, "observe") && w.IntN(4) == 0 {
		f.there = strings.Replace(f.there, "tools: ["+there+"]", `tools: ["*"], except: [`+there+"]", 1)
	}
	f.back = fmt.Sprintf("tools: [%s]%s", name(), f.back)
	if !strings.Contains(f.head, "key") {
		f.tail = w.maybe(3, fmt.Sprintf("allow: { q: [%s, %s] }\n", name(), name()), fmt.Sprintf("allow: { p: [%s, %s, %s] }\n", name(), name(), there))
	}
	f.tail += w.maybe(5, fmt.Sprintf("validate: [{ tools: [%s], require: \"args.f == 'x'\", reason: no }]\n", there))
	f.tail += w.maybe(5, fmt.Sprintf("freeTools: [%s]\n", name()))
	return f
}

func (f *flow) String() string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf(`name: flow
places: [p, q]
initialMarking: { p: 1 }
%stransitions:
  - { name: there, inputs: [p], outputs: [q], %s }
  - { name: back, inputs: [q], outputs: [p], %s }
%s`, f.head, f.there, f.back, f.tail)
}
